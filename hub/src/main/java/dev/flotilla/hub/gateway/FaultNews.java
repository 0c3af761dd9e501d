package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What people read of targets that fail requests: one line for a fault, not one for each request
 * that it failed.
 *
 * <p>A worker that breaks off all its requests at once has most likely died, and its agent tells of
 * that with a reason that cannot be seen from here. So the first silence of a worker's launch is
 * not told; only when the same launch goes on failing is it news. Then, as with backends and with
 * answers that are wrong, there is one line in {@link #APART} for each target, and the next says
 * how many requests went by untold. What became of each request is in the usage log.
 *
 * <p>Bound: {@link #TARGETS_MAX} targets; beyond that the table begins anew. Concurrency: one short
 * lock, taken by requests that failed.
 */
final class FaultNews {
  /** A launch that fails so long after its first failure is still there. */
  static final Duration DEATH_TOLD = Duration.ofSeconds(2);

  /** Between two lines about one target. */
  static final Duration APART = Duration.ofSeconds(30);

  private static final int TARGETS_MAX = 1_024;

  private final Journal journal;
  private final Map<String, State> states = new HashMap<>();

  private static final class State {
    final String ledgerKey;
    final long firstNanos;
    @Nullable Long toldNanos;
    int untold;

    State(String ledgerKey, long firstNanos) {
      this.ledgerKey = ledgerKey;
      this.firstNanos = firstNanos;
    }
  }

  FaultNews(Journal journal) {
    this.journal = journal;
  }

  /**
   * The target failed a request.
   *
   * @param reason what it did
   * @param silent whether it broke off or gave no answer, as it does when it dies
   */
  void failed(Target target, String request, String reason, boolean silent, long nowNanos) {
    String message = message(target, request, reason, silent, nowNanos);
    if (message != null) {
      journal.event(Severity.WARNING, "requests-failed", target.name(), message);
    }
  }

  private synchronized @Nullable String message(
      Target target, String request, String reason, boolean silent, long nowNanos) {
    State state = states.get(target.name());
    if (state == null || !state.ledgerKey.equals(target.ledgerKey())) {
      if (states.size() >= TARGETS_MAX) {
        states.clear();
      }
      state = new State(target.ledgerKey(), nowNanos);
      states.put(target.name(), state);
    }
    boolean mayHaveDied =
        silent
            && target.kind() == Target.Kind.WORKER
            && nowNanos - state.firstNanos < DEATH_TOLD.toNanos();
    Long told = state.toldNanos;
    if (mayHaveDied || (told != null && nowNanos - told < APART.toNanos())) {
      state.untold++;
      return null;
    }
    int others = state.untold;
    state.untold = 0;
    state.toldNanos = nowNanos;
    return "%s: %s (request %s%s)."
        .formatted(
            target.name(),
            reason,
            request,
            others == 0 ? "" : others == 1 ? ", and one before" : ", and " + others + " before");
  }
}
