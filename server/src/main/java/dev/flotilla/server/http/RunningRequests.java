package dev.flotilla.server.http;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The requests that a server works on, and that no more are let in once it stops.
 *
 * <p>Invariants: a request is counted from {@link #enter} to {@link #leave}; once the stop has
 * begun none enters. Count and stop are one number, so that a request costs no lock: every request
 * of a busy server comes by here twice. Safe for many threads.
 */
public final class RunningRequests {
  /** Beside the count, which stays far below. */
  private static final long STOPPING = 1L << 32;

  private final AtomicLong state = new AtomicLong();

  /** A request begins to run; false where the server stops. */
  public boolean enter() {
    if (state.incrementAndGet() < STOPPING) {
      return true;
    }
    leave();
    return false;
  }

  /** A request that was let in has been answered. */
  public void leave() {
    if (state.decrementAndGet() == STOPPING) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** From now on none is let in. */
  public void stop() {
    state.updateAndGet(seen -> seen | STOPPING);
  }

  /**
   * Once it {@linkplain #stop stops}, waits until none runs, for so long at most; whether none
   * does.
   */
  public synchronized boolean awaitNone(Duration atMost) {
    long due = System.nanoTime() + atMost.toNanos();
    try {
      for (long left = atMost.toNanos();
          state.get() > STOPPING && left > 0;
          left = due - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
    return state.get() <= STOPPING;
  }
}
