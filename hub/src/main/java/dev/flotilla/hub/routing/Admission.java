package dev.flotilla.hub.routing;

import java.time.Duration;

/** How the dispatcher answered a request for a place. */
public sealed interface Admission {

  /**
   * There is a place; the reservation must be closed.
   *
   * @param waitedNanos time in the queue, 0 where none was needed
   */
  record Granted(Reservation reservation, long waitedNanos) implements Admission {}

  /**
   * Too many wait already.
   *
   * @param limit how many may wait
   * @param perKey whether the limit is the client key's own, not that of the model
   * @param retryAfter when a place in the queue may be free, from the measured speed
   */
  record QueueFull(int limit, boolean perKey, Duration retryAfter) implements Admission {}

  /**
   * The longest wait passed.
   *
   * @param limit how long a request may wait
   */
  record WaitedTooLong(Duration limit, Duration retryAfter) implements Admission {}

  /**
   * Waiting is pointless.
   *
   * @param explanation one sentence for the client
   * @param contextTokens for {@link Why#CONTEXT} the largest context there is, otherwise 0
   * @param param the request's field that it is about
   */
  record NothingServes(
      Why why, String explanation, int contextTokens, String param, Duration retryAfter)
      implements Admission {}

  /** {@link Ticket#cancel()} came first. */
  record Cancelled() implements Admission {}

  /** Why nothing serves. */
  enum Why {
    /** No such public name. */
    UNKNOWN_NAME,
    /** The name has no target and none is coming. */
    NOT_SERVING,
    /** No target of the name answers this kind of request, or has what it asks for. */
    CAPABILITY,
    /** No target's context can hold the request. */
    CONTEXT,
    /** Every target is set aside for its faults, for longer than waiting is worth. */
    SET_ASIDE,
    /** Every target has failed this request already. */
    ALL_TRIED
  }
}
