package dev.flotilla.wire.fleet;

import java.util.ArrayList;
import java.util.List;

/**
 * What an engine can't be, whatever machine it is on: recipes that contradict their promise, or
 * themselves. Pure; asked by the hub when a file is applied and by the agent before a start.
 */
public final class EngineRules {
  /**
   * Options by which mlx-lm answers one request after the other: its {@code --help}, its source.
   */
  private static final List<String> MLX_UNBATCHED = List.of("kv-bits", "draft-model");

  private EngineRules() {}

  /**
   * One contradiction.
   *
   * @param key the recipe's key that is wrong, such as {@code tool-parser} or {@code args.kv-bits}
   * @param why one sentence that names both sides and what to do
   */
  public record Contradiction(String key, String why) {}

  /** All of them, beside the options that {@link EngineFlags} keeps from {@code args}. */
  public static List<Contradiction> contradictions(WorkerSpec spec) {
    List<Contradiction> found = new ArrayList<>();
    switch (spec.engine()) {
      case EngineFlags.VLLM -> vllm(spec, found);
      case EngineFlags.MLX_LM -> mlxLm(spec, found);
      case EngineFlags.BUILTIN -> builtin(spec, found);
      default -> foreignParsers(spec, "llama-server knows the form by the template", found);
    }
    if (spec.embeddings() && !EngineFlags.readsGguf(spec.engine())) {
      found.add(
          new Contradiction(
              "embeddings",
              "embeddings are served by llama-server and builtin only; use one of them, or leave"
                  + " this out"));
    }
    return found;
  }

  private static void builtin(WorkerSpec spec, List<Contradiction> found) {
    foreignParsers(spec, "the built-in engine knows the form by the template", found);
    for (String option : spec.args().keySet()) {
      boolean owned = EngineFlags.BUILTIN_OWNED.containsKey(option); // told by EngineFlags
      if (!owned && !EngineFlags.BUILTIN_OPTIONS.contains(option)) {
        found.add(
            new Contradiction(
                "args." + option,
                "%s is no option of the built-in engine; these are: %s"
                    .formatted(option, String.join(", ", EngineFlags.BUILTIN_OPTIONS))));
      }
    }
  }

  private static void vllm(WorkerSpec spec, List<Contradiction> found) {
    WorkerSpec.Chat chat = spec.chat();
    if (spec.tools() && chat.toolParser().isEmpty()) {
      found.add(
          new Contradiction(
              "tool-parser",
              "promise.tools is true, and vllm finds tool calls only with the parser for this kind"
                  + " of model: add it, such as `tool-parser: hermes`"));
    }
    if (!spec.tools() && !chat.toolParser().isEmpty()) {
      found.add(
          new Contradiction(
              "tool-parser",
              "a parser of tool calls contradicts promise.tools, which is false; leave it out or"
                  + " promise tools"));
    }
    if (spec.reasoning() == WorkerSpec.Reasoning.INLINE && !chat.reasoningParser().isEmpty()) {
      found.add(
          new Contradiction(
              "reasoning-parser",
              "it takes the reasoning out of the content, where promise.reasoning (inline) says it"
                  + " is; leave it out or promise another place"));
    }
  }

  private static void mlxLm(WorkerSpec spec, List<Contradiction> found) {
    foreignParsers(spec, "mlx-lm knows the form by the model", found);
    for (String option : MLX_UNBATCHED) {
      if (spec.args().containsKey(option) && spec.slots() != 1) {
        found.add(
            new Contradiction(
                "args." + option,
                "with %s mlx-lm answers one request after the other, and slots is %s; set slots: 1"
                    .formatted(option, slots(spec))));
      }
    }
  }

  private static void foreignParsers(WorkerSpec spec, String why, List<Contradiction> found) {
    if (!spec.chat().toolParser().isEmpty()) {
      found.add(new Contradiction("tool-parser", "it is for vllm, and " + why + "; leave it out"));
    }
    if (!spec.chat().reasoningParser().isEmpty()) {
      found.add(
          new Contradiction("reasoning-parser", "it is for vllm, and " + why + "; leave it out"));
    }
  }

  private static String slots(WorkerSpec spec) {
    return spec.slots() == WorkerSpec.AUTO_SLOTS ? "auto" : String.valueOf(spec.slots());
  }
}
