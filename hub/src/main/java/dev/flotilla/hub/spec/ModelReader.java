package dev.flotilla.hub.spec;

import dev.flotilla.hub.spec.FleetSpec.Model;
import dev.flotilla.hub.spec.FleetSpec.Promise;
import dev.flotilla.hub.spec.FleetSpec.Recipe;
import dev.flotilla.hub.spec.FleetSpec.When;
import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.EngineRules;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Chat;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads one model: its promise, how many workers it wants, and its recipes.
 *
 * <p>Defaults: {@code replicas} 1, {@code slots} 4, {@code reasoning} inline, {@code tools} false,
 * {@code embeddings} false, {@code sampling} {@link Sampling#DEFAULTS}, each of its keys by itself.
 */
final class ModelReader {

  static final int REPLICAS_DEFAULT = 1;
  static final int SLOTS_DEFAULT = 4;
  static final int RECIPES_MAX = 32;

  private static final int CONDITION_WORDS_MAX = 256;
  private static final int ARGS_MAX = 64;
  private static final int TEXT_CHARS_MAX = 1_024;
  private static final List<String> LATER_ENGINES = List.of("vllm-metal", "omlx", "ollama");
  private static final List<String> SYSTEMS = List.of("linux", "macos", "windows");
  private static final List<String> GPUS =
      List.of("nvidia", "amd", "apple", "intel", "other", "none");

  /** A text that is not there, as opposed to one that is wrong. */
  private static final Optional<String> NONE = Optional.of("");

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
        .ifPresent(list -> recipes(list, name, promise, recipes));
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
            .map(word -> word.word(Reasoning.words(), List.of()).map(ModelReader::place))
            .orElse(Optional.of(Reasoning.INLINE));
    Optional<Boolean> tools = truthOr(section, "tools", false);
    Optional<Value> floor = section.take("min-decode");
    OptionalDouble minDecode =
        floor.isEmpty()
            ? OptionalDouble.of(0)
            : Quantity.speed(floor.get(), FleetSpec.Promise.MIN_DECODE_MAX);
    Optional<Sampling> sampling =
        section.take("sampling").map(this::sampling).orElse(Optional.of(Sampling.DEFAULTS));
    section.end(List.of());
    if (context.isEmpty()
        || reasoning.isEmpty()
        || tools.isEmpty()
        || minDecode.isEmpty()
        || sampling.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Promise(
            context.getAsInt(),
            reasoning.get(),
            tools.get(),
            minDecode.getAsDouble(),
            sampling.get()));
  }

  private Optional<Sampling> sampling(Value value) {
    Optional<Section> found = value.section();
    if (found.isEmpty()) {
      return Optional.empty();
    }
    Section section = found.get();
    Sampling usual = Sampling.DEFAULTS;
    OptionalDouble temperature =
        decimalOr(section, "temperature", 0, Sampling.TEMPERATURE_MAX, usual.temperature());
    OptionalDouble topP = decimalOr(section, "top-p", 0.01, 1, usual.topP());
    OptionalInt topK = numberOr(section, "top-k", 0, Sampling.TOP_K_MAX, usual.topK());
    OptionalDouble minP = decimalOr(section, "min-p", 0, 1, usual.minP());
    section.end(List.of());
    if (temperature.isEmpty() || topP.isEmpty() || topK.isEmpty() || minP.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Sampling(
            temperature.getAsDouble(), topP.getAsDouble(), topK.getAsInt(), minP.getAsDouble()));
  }

  private static OptionalDouble decimalOr(
      Section section, String key, double least, double most, double otherwise) {
    Optional<Value> value = section.take(key);
    return value.isEmpty() ? OptionalDouble.of(otherwise) : value.get().decimal(least, most);
  }

  private static Reasoning place(String word) {
    return List.of(Reasoning.values()).stream()
        .filter(place -> place.word().equals(word))
        .findFirst()
        .orElseThrow();
  }

  private void recipes(Value list, String model, Optional<Promise> promise, List<Recipe> recipes) {
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
        promise.ifPresent(made -> contradictions(model, made, recipe.get(), section.orElseThrow()));
      }
    }
  }

  /** Told at the key that is wrong, where it is in the file, else at the recipe. */
  private static void contradictions(
      String model, Promise promise, Recipe recipe, Section section) {
    WorkerSpec spec =
        new WorkerSpec(
            model,
            model,
            recipe.engine(),
            recipe.source(),
            promise.contextTokens(),
            recipe.slots(),
            promise.reasoning(),
            promise.tools(),
            recipe.embeddings(),
            recipe.chat(),
            recipe.args());
    for (EngineRules.Contradiction found : EngineRules.contradictions(spec)) {
      section
          .take(found.key().replaceFirst("\\..*", ""))
          .ifPresentOrElse(value -> value.problem(found.why()), () -> section.problem(found.why()));
    }
  }

  private Optional<Recipe> recipe(Section section) {
    Optional<String> engine =
        section
            .need("engine", "llama-server")
            .flatMap(word -> word.word(EngineFlags.ENGINES, LATER_ENGINES));
    Optional<When> when = section.take("when").map(this::when).orElse(Optional.of(When.ANYWHERE));
    Optional<String> source =
        section.need("source", "hf:OWNER/REPO/FILE").flatMap(value -> source(value, engine));
    OptionalInt slots = slots(section);
    Optional<Boolean> embeddings = truthOr(section, "embeddings", false);
    Map<String, String> args = new LinkedHashMap<>();
    section
        .take("args")
        .flatMap(Value::section)
        .ifPresent(map -> args(map, engine.orElse(EngineFlags.LLAMA_SERVER), args));
    Optional<Chat> chat = chat(section);
    section.end(List.of());
    if (engine.isEmpty()
        || chat.isEmpty()
        || when.isEmpty()
        || source.isEmpty()
        || slots.isEmpty()
        || embeddings.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new Recipe(
            engine.get(),
            when.get(),
            source.get(),
            slots.getAsInt(),
            embeddings.get(),
            chat.get(),
            args));
  }

  private static Optional<Chat> chat(Section section) {
    Optional<String> tools = section.take("tool-parser").map(ModelReader::parser).orElse(NONE);
    Optional<String> thoughts =
        section.take("reasoning-parser").map(ModelReader::parser).orElse(NONE);
    Optional<String> template = section.take("chat-template").map(ModelReader::path).orElse(NONE);
    return tools.isEmpty() || thoughts.isEmpty() || template.isEmpty()
        ? Optional.empty()
        : Optional.of(new Chat(tools.get(), thoughts.get(), template.get()));
  }

  private static Optional<String> parser(Value value) {
    Optional<String> name = value.text(TEXT_CHARS_MAX);
    if (name.isPresent() && !WORD.matcher(name.get().toLowerCase(Locale.ROOT)).matches()) {
      value.problem(
          "the name of a parser such as `hermes` is needed, not "
              + value.shown()
              + "; vllm's are in `vllm serve --help=tool-call-parser`");
      return Optional.empty();
    }
    return name;
  }

  private static Optional<String> path(Value value) {
    Optional<String> path = value.text(TEXT_CHARS_MAX);
    if (path.isPresent()
        && (!path.get().startsWith("/") || List.of(path.get().split("/", -1)).contains(".."))) {
      value.problem(
          "a file on the node is needed, from the root and without `..`, not " + value.shown());
      return Optional.empty();
    }
    return path;
  }

  private static OptionalInt slots(Section section) {
    Optional<Value> value = section.take("slots");
    if (value.isEmpty()) {
      return OptionalInt.of(SLOTS_DEFAULT);
    }
    return value.get().numberOrAuto(1, FleetSpec.Recipe.SLOTS_MAX, WorkerSpec.AUTO_SLOTS);
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

  private static Optional<String> source(Value value, Optional<String> engine) {
    boolean folder = engine.isPresent() && !EngineFlags.readsGguf(engine.get());
    Optional<String> reference = value.text(TEXT_CHARS_MAX);
    Optional<String> problem = reference.flatMap(text -> SourceReference.problem(text, folder));
    problem.ifPresent(value::problem);
    return problem.isPresent() ? Optional.empty() : reference;
  }

  private static void args(Section section, String engine, Map<String, String> args) {
    Map<String, Value> values = section.takeAll();
    if (values.size() > ARGS_MAX) {
      section.problem(
          "there are %d arguments; at most %d are allowed".formatted(values.size(), ARGS_MAX));
      return;
    }
    values.forEach((name, value) -> {
      Value key = section.key(name);
      String bare = name.replaceAll("^-+", "");
      Optional<String> owner = EngineFlags.owner(engine, bare);
      if (owner.isPresent()) {
        key.problem(
            owner.get().endsWith("-parser") || owner.get().equals("chat-template")
                ? "write it as the recipe's own key: `%s`".formatted(owner.get())
                : "%s belongs to %s, which sets it for %s; leave it out here"
                    .formatted(Problems.shown(bare), owner.get(), engine));
      } else if (!name.equals(bare)) {
        key.problem("write the name without dashes: " + Problems.shown(bare));
      } else if (!WORD.matcher(name.toLowerCase(Locale.ROOT)).matches()) {
        key.problem(Problems.shown(name) + " can't be the name of an option");
      } else {
        value.text(TEXT_CHARS_MAX).ifPresent(text -> args.put(name, text));
      }
    });
  }
}
