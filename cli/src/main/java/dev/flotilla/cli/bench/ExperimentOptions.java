package dev.flotilla.cli.bench;

import dev.flotilla.bench.dataset.DatasetOptions;
import dev.flotilla.bench.load.LoadLimits;
import dev.flotilla.bench.load.Rehearsal;
import dev.flotilla.bench.load.RequestForm;
import dev.flotilla.bench.load.ServerUnderTest;
import dev.flotilla.bench.measure.Goals;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.sweep.Levels;
import dev.flotilla.bench.sweep.SweepPlan;
import dev.flotilla.bench.sweep.Trials;
import dev.flotilla.cli.output.WholeNumber;
import dev.flotilla.cli.output.WrongUsage;
import java.net.URI;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What all experiments of many runs take. */
final class ExperimentOptions {
  @Mixin private final MeasuredServerOptions target = new MeasuredServerOptions();
  @Mixin private final PromptOptions prompts = new PromptOptions();
  @Mixin private final MetadataOption metadata = new MetadataOption();

  @Option(
      names = "--repeats",
      paramLabel = "N",
      defaultValue = "3",
      converter = Repeats.class,
      description = "Runs of each that count; the first run of all never does (default: 3).")
  private int repeats;

  @Option(
      names = "--num-warmups",
      paramLabel = "N",
      defaultValue = "2",
      converter = Warmups.class,
      description = "Requests before each run's clock starts (default: 2).")
  private int warmups;

  @Option(
      names = {"--no-progress", "--disable-tqdm"},
      description = "Does not show how far a run is.")
  private boolean noProgress;

  /** Up to {@link SweepPlan#REPEATS_MAX}. */
  static final class Repeats extends WholeNumber {
    Repeats() {
      super(1, SweepPlan.REPEATS_MAX);
    }
  }

  /** As {@code flotilla bench} takes them. */
  static final class Warmups extends WholeNumber {
    Warmups() {
      super(0, 1000);
    }
  }

  ExperimentOptions() {}

  MeasuredServerOptions target() {
    return target;
  }

  PromptOptions prompts() {
    return prompts;
  }

  int repeats() {
    return repeats;
  }

  boolean progress() {
    return !noProgress;
  }

  /**
   * The runs at these concurrencies.
   *
   * @param levels as {@code --levels} has them
   */
  SweepPlan plan(String levels) {
    try {
      Levels all = Levels.parse(levels);
      int requests = prompts.count();
      if (requests > 0 && requests < all.highest()) {
        throw new WrongUsage(
            "--num-prompts %d are too few for concurrency %d: each level needs at least as many"
                .formatted(requests, all.highest()));
      }
      return SweepPlan.of(
          all, repeats, requests > 0 ? OptionalInt.of(requests) : OptionalInt.empty());
    } catch (Levels.Malformed e) {
      throw new WrongUsage("--levels: " + e.getMessage(), e);
    }
  }

  /**
   * What is the same in all runs.
   *
   * @param count the most prompts that a run takes
   */
  Trials.Shape shape(int count) {
    return shape(count, prompts.dataset());
  }

  /**
   * What is the same in all runs of engines that are started with a context: not every one says how
   * long it is, and conversations that one engine was spared would make the comparison a lie.
   *
   * @param count the most prompts that a run takes
   * @param context tokens of one request, prompt and answer together
   */
  Trials.Shape shape(int count, int context) {
    DatasetOptions dataset = prompts.dataset();
    return shape(count, dataset.maxContext() == 0 ? dataset.withMaxContext(context) : dataset);
  }

  private Trials.Shape shape(int count, DatasetOptions dataset) {
    target.form("");
    return new Trials.Shape(
        new Requests(target),
        dataset.withCount(count),
        warmups,
        LoadLimits.DEFAULTS,
        Goals.NONE,
        Summary.PERCENTILES,
        metadata.pairs());
  }

  /**
   * All is at hand: the client rehearses, and from now on an interruption ends the runs in good
   * order.
   */
  static void begin(Trials trials, Interruption interruption) throws InterruptedException {
    Rehearsal.hold();
    interruption.ends(trials::stop);
  }

  /** As the options say, with the key of each server. */
  private record Requests(MeasuredServerOptions target) implements Trials.Requests {
    @Override
    public ServerUnderTest server(URI address, Optional<String> key) {
      return target.at(address, key);
    }

    @Override
    public RequestForm form(String model) {
      return target.form(model);
    }

    @Override
    public boolean keepAlive() {
      return target.keepAlive();
    }
  }
}
