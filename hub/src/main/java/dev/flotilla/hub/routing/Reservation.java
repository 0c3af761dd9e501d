package dev.flotilla.hub.routing;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * One place on one target, counted from its making until it is closed. Closing is idempotent and
 * may be done by any thread; without a verdict (a client that went away) it says nothing of the
 * target.
 */
public final class Reservation implements AutoCloseable {
  private final Target target;
  private final int concurrency;
  private final long startedNanos;
  private final Consumer<Reservation> onClose;
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile Verdict verdict = Verdict.NONE;

  /**
   * What the attempt says of its target.
   *
   * @param stalled whether it failed by being silent for too long
   * @param reason what went wrong, for people
   */
  record Verdict(boolean served, boolean failed, boolean stalled, String reason) {
    static final Verdict NONE = new Verdict(false, false, false, "");
    static final Verdict SERVED = new Verdict(true, false, false, "");
  }

  Reservation(Target target, int concurrency, long startedNanos, Consumer<Reservation> onClose) {
    this.target = target;
    this.concurrency = concurrency;
    this.startedNanos = startedNanos;
    this.onClose = onClose;
  }

  public Target target() {
    return target;
  }

  /** Requests in flight on the target when this one was added, itself included. */
  public int concurrency() {
    return concurrency;
  }

  /** The target did its part, whatever the client did: to be said before the close. */
  public void served() {
    verdict = Verdict.SERVED;
  }

  /** The target failed the request by its own fault: to be said before the close. */
  public void failed(String reason) {
    verdict = new Verdict(false, true, false, reason);
  }

  /** The target failed the request by silence, and may hang: to be said before the close. */
  public void stalled(String reason) {
    verdict = new Verdict(false, true, true, reason);
  }

  Verdict verdict() {
    return verdict;
  }

  /** When it was made, on the dispatcher's clock. */
  long startedNanos() {
    return startedNanos;
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      onClose.accept(this);
    }
  }
}
