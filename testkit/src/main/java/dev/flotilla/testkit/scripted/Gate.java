package dev.flotilla.testkit.scripted;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Where a script waits until the test lets it go on: tests say when, instead of sleeping. Nothing
 * waits at a gate for longer than {@link #WAIT_MAX}.
 */
public final class Gate {
  public static final Duration WAIT_MAX = Duration.ofSeconds(30);

  private static final Duration LOOK_EVERY = Duration.ofMillis(10);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private long permits;
  private boolean open;
  private int waiting;
  private int arrived;

  private Gate() {}

  /** A gate that lets nobody through yet. */
  public static Gate closed() {
    return new Gate();
  }

  /** Lets everybody through from now on. */
  public void open() {
    lock.lock();
    try {
      open = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Lets that many through, now or when they come. */
  public void pass(int count) {
    lock.lock();
    try {
      permits += count;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Those who wait at this moment. */
  public int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until that many have come to the gate since it was made, through it or not.
   *
   * @throws AssertionError if they do not come
   */
  public void awaitArrived(int count) {
    if (!await(() -> arrived >= count, () -> false)) {
      throw new AssertionError(arrived + " came to the gate, not " + count);
    }
  }

  /**
   * Waits to be let through.
   *
   * @return false where {@code abandoned} became true, or nobody opened in time
   */
  boolean awaitPass(BooleanSupplier abandoned) {
    lock.lock();
    try {
      arrived++;
      waiting++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      return await(
          () -> {
            if (open) {
              return true;
            }
            if (permits == 0) {
              return false;
            }
            permits--;
            return true;
          },
          abandoned);
    } finally {
      lock.lock();
      try {
        waiting--;
      } finally {
        lock.unlock();
      }
    }
  }

  /** Asks the condition under the lock, so that it may also take something. */
  private boolean await(BooleanSupplier condition, BooleanSupplier abandoned) {
    long until = System.nanoTime() + WAIT_MAX.toNanos();
    lock.lock();
    try {
      while (!condition.getAsBoolean()) {
        if (abandoned.getAsBoolean() || System.nanoTime() - until > 0) {
          return false;
        }
        long _ = changed.awaitNanos(LOOK_EVERY.toNanos());
      }
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }
}
