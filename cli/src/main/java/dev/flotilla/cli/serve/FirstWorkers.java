package dev.flotilla.cli.serve;

import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import java.util.List;
import java.util.stream.Collectors;

/** How the first workers of a start stand, all together. */
sealed interface FirstWorkers {
  /** Launches after which a worker that never served is taken to be unable to. */
  int LAUNCHES_MAX = 3;

  /** Some are still on their way. */
  record Waiting(int serving) implements FirstWorkers {}

  /** At least one serves, and nothing more is to be expected soon. */
  record Ready(int serving, int wanted) implements FirstWorkers {}

  /**
   * None can be started.
   *
   * @param why the reasons, each once
   */
  record Hopeless(String why) implements FirstWorkers {}

  /** Judges the workers as they are. */
  static FirstWorkers of(List<WorkerView> workers) {
    int serving = 0;
    int coming = 0;
    for (WorkerView worker : workers) {
      if (worker.state() == State.SERVING) {
        serving++;
      } else if (!isHopeless(worker)) {
        coming++;
      }
    }
    if (workers.isEmpty() || coming > 0) {
      return new Waiting(serving);
    }
    if (serving > 0) {
      return new Ready(serving, workers.size());
    }
    return new Hopeless(
        workers.stream()
            .map(WorkerView::stateReason)
            .filter(reason -> !reason.isEmpty())
            .distinct()
            .collect(Collectors.joining("; ")));
  }

  private static boolean isHopeless(WorkerView worker) {
    return switch (worker.state()) {
      case REFUSED, STOPPED -> true;
      case STARTING -> worker.launches() >= LAUNCHES_MAX && !worker.stateReason().isEmpty();
      default -> false;
    };
  }
}
