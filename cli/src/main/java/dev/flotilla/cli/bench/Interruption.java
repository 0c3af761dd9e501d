package dev.flotilla.cli.bench;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Ctrl-C and TERM while something is measured: what is measured is told to end, and the JVM is held
 * until its results so far are printed, or until {@link #LIMIT} is over. Listens from {@link #ends}
 * to {@link #close}.
 */
final class Interruption implements AutoCloseable {
  /** Requests under way are cut at once; what is left is to write results. */
  private static final Duration LIMIT = Duration.ofSeconds(20);

  private final Runnable measured;
  private final CountDownLatch over = new CountDownLatch(1);
  private final Thread hook = Thread.ofPlatform().name("interrupt").unstarted(this::come);
  private volatile boolean happened;

  private Interruption(Runnable measured) {
    this.measured = measured;
  }

  /**
   * Listens from now on.
   *
   * @param measured ends the measurement; called at most once, from another thread
   */
  static Interruption ends(Runnable measured) {
    Interruption interruption = new Interruption(measured);
    Runtime.getRuntime().addShutdownHook(interruption.hook);
    return interruption;
  }

  /** Whether the signal has come. */
  boolean happened() {
    return happened;
  }

  private void come() {
    happened = true;
    measured.run();
    try {
      over.await(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    over.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException _) {
      // The JVM is ending already: this was the signal.
    }
  }
}
