package dev.flotilla.wire.server;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The requests that a server works on, and that no more are let in once it stops.
 *
 * <p>Invariants: a request is counted from {@link #enter} to {@link #leave}; once the stop has
 * begun none enters. Safe for many threads.
 */
public final class RunningRequests {
  private int running;
  private boolean stopping;

  /** A request begins to run; false where the server stops. */
  public synchronized boolean enter() {
    if (stopping) {
      return false;
    }
    running++;
    return true;
  }

  /** A request that was let in has been answered. */
  public synchronized void leave() {
    running--;
    if (running == 0) {
      notifyAll();
    }
  }

  /** From now on none is let in. */
  public synchronized void stop() {
    stopping = true;
  }

  /** Waits until none runs any more, for so long at most; whether none does. */
  public synchronized boolean awaitNone(Duration atMost) {
    long due = System.nanoTime() + atMost.toNanos();
    try {
      for (long left = atMost.toNanos(); running > 0 && left > 0; left = due - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
    return running == 0;
  }
}
