package dev.flotilla.server.http;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Bytes that the bodies of all requests may have in memory together.
 *
 * <p>A few large bodies can't keep ordinary requests out: a sixteenth more than the budget is for
 * bodies of up to {@value #SMALL_BYTES} bytes alone. What does not fit is not counted, not even
 * while it is refused. Safe for any number of threads; a share belongs to one request's thread.
 */
public final class BodyBudget {
  /** Up to this a body is small. */
  public static final int SMALL_BYTES = 64 << 10;

  private static final int SMALL_PART = 16;

  private final long most;
  private final AtomicLong held = new AtomicLong();

  /**
   * A budget of which nothing is taken.
   *
   * @param most bytes of all bodies, not counting what is for small ones alone
   */
  public BodyBudget(long most) {
    this.most = most;
  }

  /** An empty share, for one request. */
  public Share share() {
    return new Share();
  }

  /** What one request has of the budget, until it is closed. */
  public final class Share implements AutoCloseable {
    private long bytes;

    private Share() {}

    /** Takes so many bytes more if they fit; if they don't, takes none and returns false. */
    public boolean grow(long more) {
      long all = bytes + more;
      long limit = all <= SMALL_BYTES ? most + most / SMALL_PART : most;
      long before;
      do {
        before = held.get();
        if (before + more > limit) {
          return false;
        }
      } while (!held.compareAndSet(before, before + more));
      bytes = all;
      return true;
    }

    @Override
    public void close() {
      held.addAndGet(-bytes);
      bytes = 0;
    }
  }
}
