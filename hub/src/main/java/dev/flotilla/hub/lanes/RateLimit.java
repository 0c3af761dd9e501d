package dev.flotilla.hub.lanes;

import java.time.Duration;
import java.util.function.LongSupplier;

/** So many in each window of time, whoever asks. Thread-safe. */
public final class RateLimit {
  private final int limit;
  private final long windowNanos;
  private final LongSupplier nanoTime;
  private long windowStart;
  private int used;
  private long refused;

  public RateLimit(int limit, Duration window, LongSupplier nanoTime) {
    this.limit = limit;
    this.windowNanos = window.toNanos();
    this.nanoTime = nanoTime;
    this.windowStart = nanoTime.getAsLong();
  }

  public int limit() {
    return limit;
  }

  /** Whether one more fits into this window. */
  public synchronized boolean admit() {
    long now = nanoTime.getAsLong();
    if (now - windowStart >= windowNanos) {
      windowStart = now;
      used = 0;
    }
    if (used == limit) {
      refused++;
      return false;
    }
    used++;
    return true;
  }

  /** How many were refused since this was asked last. */
  public synchronized long takeRefused() {
    long count = refused;
    refused = 0;
    return count;
  }
}
