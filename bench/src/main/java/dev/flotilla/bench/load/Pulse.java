package dev.flotilla.bench.load;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Sleeps and looks how much later than asked it woke, again and again until it is interrupted. It
 * runs as the requests' threads do, so what delays it delays the times that they take.
 */
final class Pulse implements Runnable {
  private static final Duration EVERY = Duration.ofMillis(10);

  private final LongSupplier nanoClock;
  private final LagHistogram lags;

  Pulse(LongSupplier nanoClock, LagHistogram lags) {
    this.nanoClock = nanoClock;
    this.lags = lags;
  }

  @Override
  public void run() {
    try {
      while (true) {
        long due = nanoClock.getAsLong() + EVERY.toNanos();
        Thread.sleep(EVERY);
        lags.add(nanoClock.getAsLong() - due);
      }
    } catch (InterruptedException _) {
      // The run has ended.
    }
  }
}
