package dev.flotilla.agent.engine;

import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.EngineRules;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.Map;
import java.util.Optional;

/**
 * What a recipe says against its promise, as the agent tells it: the hub refused the same when the
 * file was applied, but an agent believes no hub.
 */
final class Contradictions {
  private Contradictions() {}

  /** The first one, a sentence that names both sides. */
  static Optional<String> first(WorkerSpec spec) {
    for (Map.Entry<String, String> arg : spec.args().entrySet()) {
      Optional<String> owner = EngineFlags.owner(spec.engine(), arg.getKey());
      if (owner.isPresent()) {
        return Optional.of(
            "args: %s %s contradicts %s, which sets it%s; leave it out of args."
                .formatted(
                    arg.getKey(),
                    arg.getValue(),
                    owner.get(),
                    promised(owner.get(), spec).map(value -> " (" + value + ")").orElse("")));
      }
    }
    return EngineRules.contradictions(spec).stream()
        .map(found -> found.key() + ": " + found.why() + ".")
        .findFirst();
  }

  private static Optional<String> promised(String owner, WorkerSpec spec) {
    return switch (owner) {
      case "promise.context" -> Optional.of("%d tokens a request".formatted(spec.contextTokens()));
      case "promise.reasoning" -> Optional.of(spec.reasoning().word());
      case "promise.tools" -> Optional.of(String.valueOf(spec.tools()));
      case "slots" -> Optional.of(String.valueOf(spec.slots()));
      case "embeddings" -> Optional.of(String.valueOf(spec.embeddings()));
      case "the model's name" -> Optional.of(spec.model());
      default -> Optional.empty();
    };
  }
}
