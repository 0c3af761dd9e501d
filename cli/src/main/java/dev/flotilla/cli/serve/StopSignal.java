package dev.flotilla.cli.serve;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C and TERM: wakes the one that serves, and holds the JVM until it has ended its parts, or
 * until {@link #LIMIT} is over. Where wanted a second one ends the JVM at once.
 *
 * <p>The first signal starts the JVM's own end, which a further one does not hurry. Handlers of
 * signals are no supported API, but in the module jdk.unsupported of every JDK: they are looked up,
 * and where they are not there a second signal does nothing, as before.
 */
final class StopSignal {
  /** Longer than the hub's and the agent's own limits together. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private static final Logger log = System.getLogger(StopSignal.class.getName());

  private final CountDownLatch asked = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  private final boolean twice;

  private StopSignal(boolean twice) {
    this.twice = twice;
  }

  /** Listens from now on. */
  static StopSignal listen() {
    return listen(false);
  }

  /**
   * The same, and a second signal ends the JVM at once: for who leaves nothing behind then, and is
   * no child of the launcher, which passes on a TERM that a service manager sends to both.
   */
  static StopSignal listenTwice() {
    return listen(true);
  }

  /** What is printed when it has come, where a second one ends the JVM. */
  static String stopping(Duration runOn) {
    return "stopping: what runs may go on for %d s; once more to end at once"
        .formatted(runOn.toSeconds());
  }

  private static StopSignal listen(boolean twice) {
    StopSignal signal = new StopSignal(twice);
    Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("stop").unstarted(signal::stop));
    return signal;
  }

  private void stop() {
    if (twice) {
      endAtOnceOn("INT", 130);
      endAtOnceOn("TERM", 143);
    }
    asked.countDown();
    try {
      ended.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void endAtOnceOn(String name, int exitCode) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object ends =
          Proxy.newProxyInstance(
              handler.getClassLoader(),
              new Class<?>[] {handler},
              (_, _, _) -> {
                Runtime.getRuntime().halt(exitCode);
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), ends);
    } catch (ReflectiveOperationException | IllegalArgumentException unknown) {
      log.log(Level.DEBUG, "a second " + name + " is not noticed on this JVM", unknown);
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
