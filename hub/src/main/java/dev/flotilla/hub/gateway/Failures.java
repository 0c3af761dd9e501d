package dev.flotilla.hub.gateway;

import dev.flotilla.hub.gateway.AttemptFailed.Blame;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.wire.openai.ApiError;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The failed attempts of one request, and what follows from them. */
final class Failures {
  private final GatewayLimits limits;
  private final List<String> reasons = new ArrayList<>(0);
  private final List<Doubtful> doubtful = new ArrayList<>(0);
  private int runs;
  private boolean silence;
  private boolean agreed;
  private @Nullable ApiError last;

  private record Doubtful(Reservation attempt, String reason) {}

  Failures(GatewayLimits limits) {
    this.limits = limits;
  }

  /** Counts one more; the reservation gets its verdict where there is one already. */
  void add(Reservation attempt, AttemptFailed failed) {
    if (failed.blame() == Blame.DOUBTFUL && failed.reason().contains(": ")) {
      agreed |= doubtful.stream().anyMatch(each -> each.reason().equals(failed.reason()));
    }
    reasons.add(attempt.target().name() + ": " + failed.reason());
    last = failed.error();
    runs += failed.ran() ? 1 : 0;
    silence = failed.silent();
    if (failed.stalled()) {
      attempt.stalled(failed.reason());
    } else if (failed.blame() == Blame.TARGET) {
      attempt.failed(failed.reason());
    } else if (failed.blame() == Blame.DOUBTFUL) {
      doubtful.add(new Doubtful(attempt, failed.reason()));
    }
  }

  /** Whether another target may be tried. */
  boolean mayTryAnother() {
    return !agreed && reasons.size() < limits.attemptsMax() && runs < limits.runsMax();
  }

  /** Whether the last target gave no answer, and may have died. */
  boolean afterSilence() {
    return silence;
  }

  boolean none() {
    return reasons.isEmpty();
  }

  /** Another target served the request: what was in doubt was the targets' fault. */
  void servedByAnother(Dispatcher dispatcher, Exchange exchange, Recorder recorder) {
    for (Doubtful each : doubtful) {
      dispatcher.blame(each.attempt(), each.reason());
      recorder.blamed(exchange, each.attempt().target());
    }
  }

  /** What the client is told when no target is left. */
  Refusal refusal(String model) {
    ApiError error = last;
    if (error != null && reasons.size() == 1) {
      return Refusal.failed(error);
    }
    String all = String.join("; ", reasons);
    return Refusal.failed(
        new ApiError(
            error == null ? 502 : error.status(),
            error == null ? "server_error" : error.type(),
            error == null ? "upstream_failed" : error.code(),
            "model '"
                + model
                + "' failed "
                + (reasons.size() == 1 ? "" : "on " + reasons.size() + " workers, ")
                + (agreed
                    ? "which gave the same answer, so it is not tried on another: "
                    : runs >= limits.runsMax() && runs > 0
                        ? "and is not tried on another, since it may be the cause: "
                        : "with: ")
                + all,
            null,
            error == null ? null : error.retryAfter()));
  }
}
