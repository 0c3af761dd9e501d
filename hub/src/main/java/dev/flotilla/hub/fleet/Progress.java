package dev.flotilla.hub.fleet;

import dev.flotilla.wire.lanes.ControlMessage;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Long steps that are under way on nodes, oldest first, at most a given number: beyond it the
 * oldest is forgotten. Guarded by the fleet's lock.
 */
final class Progress {
  private static final long UNKNOWN_STEP_BYTES = 16L << 20;

  private record Key(String node, String subject) {}

  private final int max;
  private final Map<Key, ProgressView> steps = new LinkedHashMap<>();

  Progress(int max) {
    this.max = max;
  }

  /** Takes a message in; answers whether a person would see a difference. */
  boolean heard(String node, ControlMessage.Progress said, Instant now) {
    Key key = new Key(node, said.subject());
    if (said.finished()) {
      return steps.remove(key) != null;
    }
    ProgressView next =
        new ProgressView(
            node, said.subject(), said.step(), said.doneBytes(), said.totalBytes(), now);
    ProgressView before = steps.put(key, next);
    if (steps.size() > max) {
      steps.remove(steps.keySet().iterator().next());
    }
    return before == null
        || !before.step().equals(next.step())
        || before.percent() != next.percent()
        || before.doneBytes() / UNKNOWN_STEP_BYTES != next.doneBytes() / UNKNOWN_STEP_BYTES;
  }

  /** Forgets what the node was doing. */
  void forget(String node) {
    steps.keySet().removeIf(key -> key.node().equals(node));
  }

  List<ProgressView> all() {
    return List.copyOf(steps.values());
  }

  /** What a starting worker waits for, such as "downloading the model, 43 %". */
  Optional<String> of(FleetWorker worker) {
    return Optional.ofNullable(steps.get(new Key(worker.node.name, worker.spec.source())))
        .or(() -> Optional.ofNullable(steps.get(new Key(worker.node.name, worker.spec.engine()))))
        .map(step -> step.percent() < 0 ? step.step() : step.step() + ", " + step.percent() + " %");
  }
}
