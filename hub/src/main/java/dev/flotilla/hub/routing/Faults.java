package dev.flotilla.hub.routing;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Which targets are set aside because they failed requests, and for how long.
 *
 * <p>A fault sets the target aside for a second, a stall (which took some request its whole
 * patience to find out) for ten; each further one for twice as long, up to a minute. After the
 * pause the target is half open: one request is let through as a probe; when it ends well the
 * target is whole again, when it fails the next pause begins. So a target that fails at once
 * attracts one request a pause, not all of them. Faults of requests that were already under way
 * when the pause began do not lengthen it: one crash fails many requests, and is one crash.
 *
 * <p>A fault is the target's: it closed early, stalled, answered "model not found" or refused the
 * connection. What a client did wrong is never one.
 *
 * <p>Not safe for use by several threads: the dispatcher's lock guards it.
 */
final class Faults {
  static final long PAUSE_FIRST_NANOS = 1_000_000_000L;
  static final long PAUSE_STALLED_NANOS = 10_000_000_000L;
  static final long PAUSE_MAX_NANOS = 60_000_000_000L;

  /** How much a fresh fault adds to the expected time; halves every half minute. */
  private static final double PENALTY_SECONDS = 2;

  private static final double PENALTY_HALF_LIFE_NANOS = 30e9;

  private final Map<String, State> states = new HashMap<>();

  private static final class State {
    int consecutive;
    long asideSinceNanos;
    long asideUntilNanos;
    boolean open;
    @Nullable Reservation probe;
    double penalty;
    long penaltyAtNanos;
    String reason = "";
  }

  /** The attempt failed through the target's fault. */
  void fault(Reservation attempt, String reason, boolean stalled, long nowNanos) {
    State state = states.computeIfAbsent(attempt.target().ledgerKey(), key -> new State());
    state.penalty = penalty(state, nowNanos) + PENALTY_SECONDS;
    state.penaltyAtNanos = nowNanos;
    state.reason = reason;
    boolean probeFailed = state.probe == attempt;
    boolean underWayBefore = attempt.startedNanos() - state.asideSinceNanos <= 0;
    if (state.open && !probeFailed && underWayBefore) {
      return;
    }
    state.probe = null;
    state.open = true;
    state.consecutive++;
    state.asideSinceNanos = nowNanos;
    long first = stalled ? PAUSE_STALLED_NANOS : PAUSE_FIRST_NANOS;
    long pause = first << Math.min(state.consecutive - 1, 6);
    state.asideUntilNanos = nowNanos + Math.min(pause, PAUSE_MAX_NANOS);
  }

  /** The attempt ended well. */
  void success(Reservation attempt) {
    State state = states.get(attempt.target().ledgerKey());
    if (state != null && (state.probe == attempt || !state.open)) {
      state.probe = null;
      state.open = false;
      state.consecutive = 0;
    }
  }

  /** The attempt was closed: a probe that ended without a verdict makes way for the next. */
  void closed(Reservation attempt) {
    State state = states.get(attempt.target().ledgerKey());
    if (state != null && state.probe == attempt) {
      state.probe = null;
    }
  }

  /** The attempt is begun; it is the probe where the target is half open. */
  void begun(Reservation attempt) {
    State state = states.get(attempt.target().ledgerKey());
    if (state != null && state.open && state.probe == null) {
      state.probe = attempt;
    }
  }

  /** Whether a request may be sent to the target now. */
  boolean admits(String ledgerKey, long nowNanos) {
    State state = states.get(ledgerKey);
    return state == null
        || !state.open
        || (state.probe == null && nowNanos - state.asideUntilNanos >= 0);
  }

  /** How much longer the target is set aside, 0 where it is not. */
  long asideNanos(String ledgerKey, long nowNanos) {
    State state = states.get(ledgerKey);
    return state == null || !state.open ? 0 : Math.max(0, state.asideUntilNanos - nowNanos);
  }

  /** What the last fault was, empty where there was none. */
  String reason(String ledgerKey) {
    State state = states.get(ledgerKey);
    return state == null ? "" : state.reason;
  }

  /** Seconds that recent faults add to the expected time of a request. */
  double penaltySeconds(String ledgerKey, long nowNanos) {
    State state = states.get(ledgerKey);
    return state == null ? 0 : penalty(state, nowNanos);
  }

  private static double penalty(State state, long nowNanos) {
    return state.penalty
        * Math.pow(0.5, (nowNanos - state.penaltyAtNanos) / PENALTY_HALF_LIFE_NANOS);
  }

  void retain(Set<String> ledgerKeys) {
    states.keySet().retainAll(ledgerKeys);
  }
}
