package dev.flotilla.hub.spec;

import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.wire.LlamaServerFlags;
import dev.flotilla.wire.Names;
import dev.flotilla.wire.WorkerSpec.Reasoning;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads one model: its promise, how many workers it wants, and its recipes.
 *
 * <p>Defaults: {@code replicas} 1, {@code slots} 4, {@code reasoning} inline, {@code tools} false,
 * {@code embeddings} false.
 */
final class ModelReader {

  static final int REPLICAS_DEFAULT = 1;
  static final int SLOTS_DEFAULT = 4;
  static final int RECIPES_MAX = 32;

  private static final int CONDITION_WORDS_MAX = 256;
  private static final int ARGS_MAX = 64;
  private static final int TEXT_CHARS_MAX = 1_024;
  private static final List<String> ENGINES = List.of("llama-server");
  private static final List<String> LATER_ENGINES =
      List.of("vllm", "vllm-metal", "mlx-lm", "omlx", "ollama", "builtin");
  private static final List<String> SYSTEMS = List.of("linux", "macos", "windows");
  private static final List<String> GPUS =
      List.of("nvidia", "amd", "apple", "intel", "other", "none");
  private static final Pattern WORD = Pattern.compile("[a-z0-9][a-z0-9_-]{0,63}");

  /** The number of a key, its default where the key is missing, nothing where it has a problem. */
  static OptionalInt numberOr(Section section, String key, int least, int most, int otherwise) {
    Optional<Value> value = section.take(key);
    return value.isEmpty() ? OptionalInt.of(otherwise) : value.get().number(least, most);
  }

  private static Optional<Boolean> truthOr(Section section, String key, boolean otherwise) {
    Optional<Value> value = section.take(key);
    return value.isEmpty() ? Optional.of(otherwise) : value.get().truth();
  }

  Optional<Model> read(String name, Value value) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    Optional<Promise> promise = section.need("promise", "{ context: 4096 }").flatMap(this::promise);
    OptionalInt replicas =
        numberOr(section, "replicas", 1, FleetSpec.Model.REPLICAS_MAX, REPLICAS_DEFAULT);
    List<Recipe> recipes = new ArrayList<>();
    section
        .need("recipes", "[{ engine: llama-server, source: REFERENCE }]")
        .ifPresent(list -> recipes(list, recipes));
    section.end(List.of());
    if (promise.isEmpty() || replicas.isEmpty() || recipes.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(new Model(name, promise.get(), replicas.getAsInt(), recipes));
  }

  private Optional<Promise> promise(Value value) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    Optional<Value> contextValue = section.need("context", "16384");
    OptionalInt context =
        contextValue.isEmpty()
            ? OptionalInt.empty()
            : contextValue
                .get()
                .number(FleetSpec.Promise.CONTEXT_TOKENS_MIN, FleetSpec.Promise.CONTEXT_TOKENS_MAX);
    Optional<Reasoning> reasoning =
        section
            .take("reasoning")
            .map(word -> word.word(Reasoning.words(), List.of("reasoning")).map(ModelReader::place))
            .orElse(Optional.of(Reasoning.INLINE));
    Optional<Boolean> tools = truthOr(section, "tools", false);
    section.end(List.of("min-decode"));
    if (context.isEmpty() || reasoning.isEmpty() || tools.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(new Promise(context.getAsInt(), reasoning.get(), tools.get()));
  }

  private static Reasoning place(String word) {
    return List.of(Reasoning.values()).stream()
        .filter(place -> place.word().equals(word))
        .findFirst()
        .orElseThrow();
  }

  private void recipes(Value list, List<Recipe> recipes) {
    String always = "";
    for (Value item : list.items(RECIPES_MAX)) {
      if (!always.isEmpty()) {
        item.problem(
            "this recipe is never used: %s before it has no `when`, so it holds on every node"
                .formatted(always));
      }
      Optional<Section> section = item.section();
      if (section.isPresent() && section.get().take("when").isEmpty()) {
        always = item.path().substring(item.path().lastIndexOf('.') + 1);
      }
      Optional<Recipe> recipe = section.flatMap(this::recipe);
      if (recipe.isPresent()) {
        if (!recipes.isEmpty() && recipes.getFirst().embeddings() != recipe.get().embeddings()) {
          item.problem("`embeddings` must be the same in all recipes of a model");
        }
        recipes.add(recipe.get());
      }
    }
  }

  private Optional<Recipe> recipe(Section section) {
    Optional<String> engine =
        section.need("engine", "llama-server").flatMap(word -> word.word(ENGINES, LATER_ENGINES));
    Optional<When> when = section.take("when").map(this::when).orElse(Optional.of(When.ANYWHERE));
    Optional<String> source =
        section.need("source", "hf:OWNER/REPO/FILE").flatMap(ModelReader::source);
    OptionalInt slots = numberOr(section, "slots", 1, FleetSpec.Recipe.SLOTS_MAX, SLOTS_DEFAULT);
    Optional<Boolean> embeddings = truthOr(section, "embeddings", false);
    Map<String, String> args = new LinkedHashMap<>();
    section.take("args").flatMap(Value::section).ifPresent(map -> args(map, args));
    section.end(List.of("tool-parser"));
    if (engine.isEmpty()
        || when.isEmpty()
        || source.isEmpty()
        || slots.isEmpty()
        || embeddings.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Recipe(
            engine.get(), when.get(), source.get(), slots.getAsInt(), embeddings.get(), args));
  }

  private Optional<When> when(Value value) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    List<String> os = words(section, "os", item -> item.word(SYSTEMS, List.of()));
    List<String> arch = words(section, "arch", ModelReader::architecture);
    List<String> gpu = words(section, "gpu", item -> item.word(GPUS, List.of()));
    List<String> node = words(section, "node", ModelReader::node);
    section.end(List.of());
    if (section.isEmpty()) {
      section.problem("`when` says nothing; leave it out where the recipe holds everywhere");
    }
    return Optional.of(new When(os, arch, gpu, node));
  }

  private static List<String> words(
      Section section, String key, Function<Value, Optional<String>> read) {
    List<String> words = new ArrayList<>();
    section
        .take(key)
        .ifPresent(list -> {
          for (Value item : list.itemsOrOne(CONDITION_WORDS_MAX)) {
            Optional<String> word = read.apply(item);
            if (word.isPresent() && words.contains(word.get())) {
              item.problem(item.shown() + " is here twice");
            } else {
              word.ifPresent(words::add);
            }
          }
        });
    return words;
  }

  private static Optional<String> architecture(Value value) {
    String word = value.raw().orElse("");
    if (!WORD.matcher(word).matches()) {
      value.problem(
          "an architecture such as `x86_64` or `aarch64` is needed, not " + value.shown());
      return Optional.empty();
    }
    return Optional.of(word);
  }

  private static Optional<String> node(Value value) {
    Optional<String> name = value.text(TEXT_CHARS_MAX);
    Optional<String> problem = name.flatMap(Names::nodeProblem);
    problem.ifPresent(value::problem);
    return problem.isPresent() ? Optional.empty() : name;
  }

  private static Optional<String> source(Value value) {
    Optional<String> reference = value.text(TEXT_CHARS_MAX);
    Optional<String> problem = reference.flatMap(SourceReference::problem);
    problem.ifPresent(value::problem);
    return problem.isPresent() ? Optional.empty() : reference;
  }

  private static void args(Section section, Map<String, String> args) {
    Map<String, Value> values = section.takeAll();
    if (values.size() > ARGS_MAX) {
      section.problem(
          "there are %d arguments; at most %d are allowed".formatted(values.size(), ARGS_MAX));
      return;
    }
    values.forEach((name, value) -> {
      Value key = section.key(name);
      String bare = name.replaceAll("^-+", "");
      Optional<String> owner = LlamaServerFlags.owner(bare);
      if (owner.isPresent()) {
        key.problem(
            "%s belongs to %s, which sets it for llama-server; leave it out here"
                .formatted(Problems.shown(bare), owner.get()));
      } else if (!name.equals(bare)) {
        key.problem("write the name without dashes: " + Problems.shown(bare));
      } else if (!WORD.matcher(name.toLowerCase(java.util.Locale.ROOT)).matches()) {
        key.problem(Problems.shown(name) + " can't be the name of an option");
      } else {
        value.text(TEXT_CHARS_MAX).ifPresent(text -> args.put(name, text));
      }
    });
  }
}
