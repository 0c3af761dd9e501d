package dev.flotilla.hub.routing;

import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One request's place in the dispatcher's queue. Settled once, under the dispatcher's lock; one
 * thread awaits it, any thread may cancel it.
 */
public final class Ticket {
  private final Dispatcher dispatcher;
  private final RequestNeeds needs;
  private final long enteredNanos;
  private final long deadlineNanos;
  private final long hopeUntilNanos;
  private volatile @Nullable Admission settled;
  private volatile @Nullable Thread waiter;

  /**
   * @param hopeUntilNanos until when a tried worker may turn out to have died; {@code enteredNanos}
   *     where there is no such hope
   */
  Ticket(
      Dispatcher dispatcher,
      RequestNeeds needs,
      long enteredNanos,
      long deadlineNanos,
      long hopeUntilNanos) {
    this.hopeUntilNanos = hopeUntilNanos;
    this.dispatcher = dispatcher;
    this.needs = needs;
    this.enteredNanos = enteredNanos;
    this.deadlineNanos = deadlineNanos;
  }

  /**
   * Waits for the answer, at most as long as {@link QueueLimits#longestWait()}. An interrupt
   * cancels. A reservation that is granted must be closed by the caller.
   */
  public Admission await() {
    Admission answer = settled;
    if (answer != null) {
      return answer;
    }
    waiter = Thread.currentThread();
    while (true) {
      long nanos = dispatcher.look(this);
      answer = settled;
      if (answer != null) {
        return answer;
      }
      LockSupport.parkNanos(this, nanos);
      if (Thread.currentThread().isInterrupted()) {
        cancel();
      }
    }
  }

  /**
   * Gives up waiting. Where a place was granted at the same moment it stays granted, and {@link
   * #await} hands it out to be closed.
   */
  public void cancel() {
    dispatcher.cancel(this);
  }

  RequestNeeds needs() {
    return needs;
  }

  long enteredNanos() {
    return enteredNanos;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /** Whether a tried worker may still turn out to have died. */
  boolean hopes(long nowNanos) {
    return hopeNanos(nowNanos) > 0;
  }

  /** How long that hope lasts; not above 0 where there is none. */
  long hopeNanos(long nowNanos) {
    return hopeUntilNanos - nowNanos;
  }

  /** Whether there was such a hope and is none any more. */
  boolean hopeIsOver(long nowNanos) {
    return hopeUntilNanos != enteredNanos && !hopes(nowNanos);
  }

  @Nullable Admission settled() {
    return settled;
  }

  /** Under the dispatcher's lock, once. */
  void settle(Admission answer) {
    settled = answer;
    Thread parked = waiter;
    if (parked != null) {
      LockSupport.unpark(parked);
    }
  }
}
