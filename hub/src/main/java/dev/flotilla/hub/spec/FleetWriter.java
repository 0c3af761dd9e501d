package dev.flotilla.hub.spec;

import dev.flotilla.hub.spec.FleetSpec.Backend;
import dev.flotilla.hub.spec.FleetSpec.Destination;
import dev.flotilla.hub.spec.FleetSpec.Limits;
import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.Route;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes a spec in the one canonical form: block style, defaults written out, two spaces. */
final class FleetWriter {

  /** What YAML takes for text, plain, wherever it stands in our files. */
  private static final Pattern PLAIN =
      Pattern.compile("[A-Za-z/][A-Za-z0-9._/@:=+-]*[A-Za-z0-9_]|[A-Za-z]|[0-9]{1,9}");

  private static final Set<String> WORDS_OF_YAML = Set.of("null", "true", "false");

  private final StringBuilder out = new StringBuilder();

  String write(FleetSpec spec) {
    if (spec.models().isEmpty()) {
      line(0, "models: {}");
    } else {
      line(0, "models:");
      spec.models().forEach(this::model);
    }
    if (!spec.backends().isEmpty()) {
      line(0, "backends:");
      spec.backends().forEach(this::backend);
    }
    if (!spec.routes().isEmpty()) {
      line(0, "routes:");
      spec.routes().forEach(this::route);
    }
    Limits limits = spec.limits();
    line(0, "limits:");
    line(
        1,
        "queue: { per-model: %d, wait: %s }"
            .formatted(limits.queuePerModel(), Quantity.ofDuration(limits.queueWait())));
    line(1, "request-body: " + Quantity.ofBytes(limits.requestBodyBytes()));
    line(
        1,
        "proof: { tokens: %d, level: %s }"
            .formatted(limits.proofTokens(), Quantity.ofDuration(limits.proofLevel())));
    return out.toString();
  }

  private void model(Model model) {
    line(1, text(model.name()) + ":");
    line(2, "promise:");
    line(3, "context: " + model.promise().contextTokens());
    line(3, "reasoning: " + model.promise().reasoning().word());
    line(3, "tools: " + model.promise().tools());
    if (model.promise().minDecode() > 0) {
      line(3, "min-decode: " + Quantity.ofSpeed(model.promise().minDecode()));
    }
    Sampling sampling = model.promise().sampling();
    if (!sampling.equals(Sampling.DEFAULTS)) {
      line(
          3,
          "sampling: { temperature: %s, top-p: %s, top-k: %d, min-p: %s }"
              .formatted(
                  Quantity.ofDecimal(sampling.temperature()),
                  Quantity.ofDecimal(sampling.topP()),
                  sampling.topK(),
                  Quantity.ofDecimal(sampling.minP())));
    }
    line(2, "replicas: " + model.replicas());
    line(2, "recipes:");
    model.recipes().forEach(this::recipe);
  }

  private void recipe(Recipe recipe) {
    line(3, "- engine: " + text(recipe.engine()));
    When when = recipe.when();
    if (!when.equals(When.ANYWHERE)) {
      line(4, "when:");
      condition("os", when.os());
      condition("arch", when.arch());
      condition("gpu", when.gpu());
      condition("node", when.node());
    }
    line(4, "source: " + text(recipe.source()));
    line(4, "slots: " + slots(recipe));
    line(4, "embeddings: " + recipe.embeddings());
    optional("tool-parser", recipe.chat().toolParser());
    optional("reasoning-parser", recipe.chat().reasoningParser());
    optional("chat-template", recipe.chat().template());
    if (!recipe.args().isEmpty()) {
      line(4, "args:");
      recipe.args().forEach((name, value) -> line(5, text(name) + ": " + text(value)));
    }
  }

  private void optional(String key, String value) {
    if (!value.isEmpty()) {
      line(4, key + ": " + text(value));
    }
  }

  /** As it is written in the file. */
  static String slots(Recipe recipe) {
    return recipe.slots() == WorkerSpec.AUTO_SLOTS ? "auto" : Integer.toString(recipe.slots());
  }

  private void condition(String key, List<String> words) {
    if (!words.isEmpty()) {
      line(5, key + ": " + list(words));
    }
  }

  private void backend(Backend backend) {
    line(1, text(backend.name()) + ":");
    line(2, "url: " + text(backend.url().toString()));
    line(2, "model: " + text(backend.model()));
    line(2, "slots: " + backend.slots());
    backend.keyVariable().ifPresent(name -> line(2, "key: env:" + name));
  }

  private void route(Route route) {
    line(1, text(route.name()) + ":");
    line(2, "match: { models: " + list(route.models()) + " }");
    line(2, "strategy: fastest");
    line(2, "to:");
    for (Destination to : route.to()) {
      String kind =
          switch (to) {
            case Destination.ToBackend backend -> "backend";
            case Destination.ToModel model -> "model";
          };
      line(3, "- { " + kind + ": " + text(to.name()) + " }");
    }
  }

  private void line(int depth, String text) {
    out.append("  ".repeat(depth)).append(text).append('\n');
  }

  private static String list(List<String> texts) {
    return texts.stream().map(FleetWriter::text).collect(Collectors.joining(", ", "[", "]"));
  }

  /** The text plain where that is surely read as it stands, else in double quotes. */
  private static String text(String text) {
    if (PLAIN.matcher(text).matches() && !WORDS_OF_YAML.contains(text.toLowerCase(Locale.ROOT))) {
      return text;
    }
    StringBuilder quoted = new StringBuilder("\"");
    text.codePoints()
        .forEach(c -> {
          if (c == '"' || c == '\\') {
            quoted.append('\\').appendCodePoint(c);
          } else if (c >= ' ' && c < 0x7f) {
            quoted.appendCodePoint(c);
          } else {
            quoted.append("\\U%08X".formatted(c));
          }
        });
    return quoted.append('"').toString();
  }
}
