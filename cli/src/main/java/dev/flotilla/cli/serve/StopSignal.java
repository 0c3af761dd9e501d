package dev.flotilla.cli.serve;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C and TERM: wakes the one that serves, and holds the JVM until it has ended its parts, or
 * until {@link #LIMIT} is over.
 */
final class StopSignal {
  /** Longer than the hub's and the agent's own limits together. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  private StopSignal() {}

  /** Listens from now on. */
  static StopSignal listen() {
    StopSignal signal = new StopSignal();
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("stop").unstarted(signal::stop));
    return signal;
  }

  private void stop() {
    asked.countDown();
    try {
      ended.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits for the signal, at most so long; whether it has come. */
  boolean await(Duration atMost) throws InterruptedException {
    return asked.await(atMost.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Waits for the signal. */
  void await() throws InterruptedException {
    asked.await();
  }

  /** Everything has ended: the JVM may go. */
  void ended() {
    ended.countDown();
  }
}
