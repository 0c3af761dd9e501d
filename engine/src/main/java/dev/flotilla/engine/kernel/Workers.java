package dev.flotilla.engine.kernel;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The threads that compute, the calling one among them.
 *
 * <p>A step of a small model is some two hundred regions of a few microseconds, so threads that
 * sleep between them would sleep longer than they work. Between regions they spin for a while,
 * {@value #SPINS} looks, and park only then; the caller spins for the last of them. No work is
 * bound to a thread: in a region each thread claims the next piece, so a core that somebody else
 * uses for a while costs its share alone. What a piece computes never depends on who computes it.
 *
 * <p>One thread calls {@link #run} at a time, and a region does not call it. What the caller wrote
 * before {@code run} is visible to the region, what the region wrote is visible after it: both go
 * through {@link #epoch} and {@link #working}. A region's first failure is thrown from {@code run}
 * when all threads are through; the pool stays usable.
 */
public final class Workers implements AutoCloseable {
  private static final int SPINS = 4000;
  private static final long PAUSE_NANOS = 20_000;

  /** What all threads do at once. */
  @FunctionalInterface
  public interface Region {
    /** Runs on each thread; {@code worker} is from 0 to {@link Workers#size} - 1. */
    void run(int worker);
  }

  private final Thread[] threads;
  private final AtomicInteger working = new AtomicInteger();
  private final AtomicInteger claims = new AtomicInteger();
  private final AtomicInteger epoch = new AtomicInteger();
  private volatile boolean closed;
  private volatile int parked;
  private Region region = worker -> {};
  private volatile @Nullable Throwable failure;

  /**
   * Starts the threads.
   *
   * @param size threads that compute, the caller's included; at least 1
   */
  public Workers(int size) {
    if (size < 1) {
      throw new IllegalArgumentException(size + " threads");
    }
    threads = new Thread[size - 1];
    for (int i = 0; i < threads.length; i++) {
      int worker = i + 1;
      threads[i] =
          Thread.ofPlatform().daemon().name("compute-" + worker).start(() -> serve(worker));
    }
  }

  /** Threads that compute, the caller's included. */
  public int size() {
    return threads.length + 1;
  }

  /** Runs the region on all threads, and returns when all are through. */
  public void run(Region work) {
    region = work;
    claims.set(0);
    if (threads.length > 0) {
      working.set(threads.length);
      epoch.incrementAndGet();
      if (parked > 0) {
        for (Thread thread : threads) {
          LockSupport.unpark(thread);
        }
      }
    }
    try {
      work.run(0);
    } finally {
      awaitOthers();
    }
    Throwable failed = failure;
    if (failed != null) {
      failure = null;
      throw new IllegalStateException("a compute thread failed", failed);
    }
  }

  /** The next piece of the running region: 0, 1, 2 and so on, each given out once. */
  public int claim() {
    return claims.getAndIncrement();
  }

  private void awaitOthers() {
    for (int spins = 0; working.get() > 0; spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS); // fewer cores than threads are free: leave this one
      }
    }
  }

  private void serve(int worker) {
    int seen = 0;
    while (true) {
      seen = awaitAfter(seen);
      if (closed) {
        return;
      }
      try {
        region.run(worker);
      } catch (Throwable e) { // reported by run, on the thread that asked
        failure = e;
      } finally {
        working.decrementAndGet();
      }
    }
  }

  private int awaitAfter(int seen) {
    for (int spins = 0; epoch.get() == seen; spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
        continue;
      }
      park(seen);
      spins = 0;
    }
    return epoch.get();
  }

  /** Counts itself before it looks again, so that a run that sees nobody parked is seen here. */
  private void park(int seen) {
    synchronized (threads) {
      parked++;
    }
    try {
      while (epoch.get() == seen) {
        LockSupport.park(this);
      }
    } finally {
      synchronized (threads) {
        parked--;
      }
    }
  }

  /** Ends the threads; no region may run. */
  @Override
  public void close() {
    closed = true;
    working.set(threads.length);
    epoch.incrementAndGet();
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
  }
}
