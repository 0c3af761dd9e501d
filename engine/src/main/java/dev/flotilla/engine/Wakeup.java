package dev.flotilla.engine;

import java.util.concurrent.locks.LockSupport;

/**
 * Wakes the one thread that reads an answer, or several answers of one request. A signal that comes
 * while nobody waits is kept, and several are one. Signalling neither blocks nor allocates here.
 */
public final class Wakeup {
  private final Thread reader;
  private volatile boolean signalled;

  /** For the thread that calls this. */
  public Wakeup() {
    reader = Thread.currentThread();
  }

  /** There is something to look at. */
  public void signal() {
    if (!signalled) {
      signalled = true;
      LockSupport.unpark(reader);
    }
  }

  /**
   * Waits for a signal since the last call; false where none came in time.
   *
   * @throws InterruptedException where the thread is interrupted
   */
  public boolean await(long nanos) throws InterruptedException {
    long due = System.nanoTime() + nanos;
    while (!signalled) {
      long left = due - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      LockSupport.parkNanos(this, left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
    signalled = false;
    return true;
  }
}
