package dev.flotilla.bench.sweep;

import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.EngineStart;
import dev.flotilla.bench.launch.MemorySampler.Memory;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.launch.StartedEngine;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RepeatGuards;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.sweep.SweepPlan.Step;
import dev.flotilla.bench.sweep.Trials.Trial;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes the runs of a {@link SweepPlan} on one server, and keeps what they gave.
 *
 * <p>An engine that can be started is started afresh for each run, so that no run finds what the
 * one before left in a cache; a server that runs already gets the prompts as variants that its
 * caches don't know. Used once, by one thread; no engine that it started is left when {@link #run}
 * returns or throws.
 *
 * <p>What goes wrong after the first run that counts ends the sweep and is said in what it gives:
 * hours of results are not thrown away for the last level.
 */
public final class SweepRun {
  private final SweepPlan plan;
  private final Trials trials;
  private final EngineStart engine;
  private final Setting setting;

  private final SortedMap<Integer, List<Result>> results = new TreeMap<>();
  private final Map<Integer, Memory> memory = new HashMap<>();
  private @Nullable Result first;
  private String version = "";
  private List<String> commandLine = List.of();
  private Optional<Duration> readyAfter = Optional.empty();

  public SweepRun(SweepPlan plan, Trials trials, EngineStart engine, Setting setting) {
    this.plan = plan;
    this.trials = trials;
    this.engine = engine;
    this.setting = setting;
  }

  /**
   * Makes them.
   *
   * @throws EngineNotStarted where the engine does not come up and nothing was measured yet
   * @throws ServerUnusable where there is no server to measure and nothing was measured yet
   * @throws DatasetRefused where there are no such prompts to be had
   */
  public Swept run() throws EngineNotStarted, ServerUnusable, DatasetRefused, InterruptedException {
    Optional<String> trouble = Optional.empty();
    try {
      for (Step step : plan.steps()) {
        if (trials.stopped()) {
          break;
        }
        make(step);
      }
    } catch (EngineNotStarted e) {
      if (results.isEmpty()) {
        throw e;
      }
      trouble = Optional.of(String.valueOf(e.getMessage()));
    } catch (ServerUnusable e) {
      if (results.isEmpty()) {
        throw e;
      }
      trouble = Optional.of(e.getMessage() + ".");
    }
    return new Swept(
        sweep(trouble), version, commandLine, readyAfter, memory, trials.stopped(), trouble);
  }

  private void make(Step step)
      throws EngineNotStarted, ServerUnusable, DatasetRefused, InterruptedException {
    Optional<StartedEngine> started =
        trials.starting(
            engine.fresh() ? "starting " + engine.name() : "at " + engine.name(),
            () -> engine.start(setting));
    if (started.isEmpty()) {
      return;
    }
    try (StartedEngine server = started.get()) {
      version = server.version();
      commandLine = server.commandLine();
      server
          .readyAfter()
          .filter(took -> readyAfter.isEmpty() || took.compareTo(readyAfter.get()) > 0)
          .ifPresent(took -> readyAfter = Optional.of(took));
      Optional<Trial> trial = trials.run(words(step), server, step.concurrency(), step.requests());
      if (trial.isPresent()) {
        keep(step, trial.get(), server.whyEnded());
      }
    }
  }

  private String words(Step step) {
    return engine.name()
        + ", concurrency "
        + step.concurrency()
        + (step.counts() ? ", run " + step.repeat() : ", first run (left out)");
  }

  private void keep(Step step, Trial trial, Optional<String> whyEnded) throws EngineNotStarted {
    Result result = trial.result();
    boolean measured = result.run().requests().stream().anyMatch(r -> r.succeeded());
    if (!step.counts()) {
      first = result;
    } else if (measured || !trials.stopped()) {
      results.computeIfAbsent(step.concurrency(), each -> new ArrayList<>()).add(result);
    }
    if (trial.memory().known()) {
      memory.merge(
          step.concurrency(), trial.memory(), (a, b) -> a.peakBytes() >= b.peakBytes() ? a : b);
    }
    if (whyEnded.isPresent() && !trials.stopped()) {
      throw new EngineNotStarted(
          "%s ended in the middle of concurrency %d: %s"
              .formatted(engine.name(), step.concurrency(), whyEnded.get()));
    }
  }

  private Optional<Sweep> sweep(Optional<String> trouble) {
    if (results.isEmpty()) {
      return Optional.empty();
    }
    List<Level> levels = new ArrayList<>();
    results.forEach((concurrency, runs) -> levels.add(new Level(concurrency, runs)));
    List<Finding> findings = new ArrayList<>();
    Result left = first;
    if (left != null) {
      int lowest = left.run().load().maxConcurrency();
      List<Result> later = results.getOrDefault(lowest, List.of());
      RepeatGuards.firstRun(left.summary(), later.stream().map(Result::summary).toList())
          .ifPresent(findings::add);
    }
    int made = results.values().stream().mapToInt(List::size).sum();
    long wanted = plan.steps().stream().filter(Step::counts).count();
    if (trouble.isPresent() || trials.stopped()) {
      findings.add(
          new Finding(
              Finding.Kind.PARTIAL,
              true,
              "The sweep was ended after %d of %d runs: %s"
                  .formatted(made, wanted, trouble.orElse("these are the results so far."))));
    }
    Instant startedAt =
        results.values().stream()
            .flatMap(List::stream)
            .map(result -> result.run().startedAt())
            .min(Instant::compareTo)
            .orElseThrow();
    Load load = levels.getFirst().runs().getFirst().run().load();
    return Optional.of(new Sweep(load, startedAt, levels, findings));
  }
}
