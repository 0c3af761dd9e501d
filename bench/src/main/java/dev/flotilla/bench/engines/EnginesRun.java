package dev.flotilla.bench.engines;

import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.launch.EngineNotStarted;
import dev.flotilla.bench.launch.EngineStart;
import dev.flotilla.bench.launch.MemorySampler.Memory;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.measure.Engine;
import dev.flotilla.bench.measure.Engine.AtConcurrency;
import dev.flotilla.bench.measure.Engine.Machine;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.sweep.SweepPlan;
import dev.flotilla.bench.sweep.SweepPlan.Step;
import dev.flotilla.bench.sweep.SweepRun;
import dev.flotilla.bench.sweep.Swept;
import dev.flotilla.bench.sweep.Trials;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Sweeps several engines, one after the other: at any moment at most one runs, and each run finds
 * it fresh. An engine that does not come up, or that dies, is a column that says so; the others are
 * measured all the same. Used once, by one thread.
 */
public final class EnginesRun {
  private final SweepPlan plan;
  private final Trials trials;
  private final Machine machine;
  private final InstantSource calendar;
  private final LongSupplier nanoClock;

  /**
   * @param machine where it runs, for the report
   */
  public EnginesRun(
      SweepPlan plan,
      Trials trials,
      Machine machine,
      InstantSource calendar,
      LongSupplier nanoClock) {
    this.plan = plan;
    this.trials = trials;
    this.machine = machine;
    this.calendar = calendar;
    this.nanoClock = nanoClock;
  }

  /** One engine, and how it is started. */
  public record Candidate(EngineStart start, Setting setting) {}

  /**
   * What one engine gave.
   *
   * @param engine as the comparison shows it
   * @param swept its levels with all their repeats; absent where it never came up
   * @param trouble what went wrong: one sentence
   */
  public record Outcome(Engine engine, Optional<Swept> swept, Optional<String> trouble) {}

  /**
   * Sweeps them; those that a {@link Trials#stop} left out are not in the list.
   *
   * @throws DatasetRefused where there are no such prompts to be had
   */
  public List<Outcome> run(List<Candidate> candidates) throws DatasetRefused, InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    for (Candidate candidate : candidates) {
      if (trials.stopped()) {
        break;
      }
      outcomes.add(one(candidate));
    }
    return outcomes;
  }

  private Outcome one(Candidate candidate) throws DatasetRefused, InterruptedException {
    long begun = nanoClock.getAsLong();
    var startedAt = calendar.instant();
    Optional<Swept> swept = Optional.empty();
    Optional<String> trouble;
    try {
      Swept each = new SweepRun(plan, trials, candidate.start(), candidate.setting()).run();
      swept = Optional.of(each);
      trouble = each.trouble();
    } catch (EngineNotStarted e) {
      trouble = Optional.of(String.valueOf(e.getMessage()));
    } catch (ServerUnusable e) {
      trouble = Optional.of(e.getMessage() + ".");
    }
    double seconds = (nanoClock.getAsLong() - begun) / 1e9;
    Optional<Sweep> sweep = swept.flatMap(Swept::sweep);
    Engine engine =
        new Engine(
            candidate.start().name(),
            swept.map(Swept::version).filter(version -> !version.isEmpty()),
            sweep.map(each -> each.load().model()).orElse(candidate.setting().model()),
            sweep.map(each -> each.load().url()).orElse(""),
            startedAt,
            machine,
            levels(swept, trouble),
            seconds,
            !candidate.start().fresh());
    return new Outcome(engine, swept, trouble);
  }

  private List<AtConcurrency> levels(Optional<Swept> swept, Optional<String> trouble) {
    List<AtConcurrency> levels = new ArrayList<>();
    plan.steps().stream()
        .filter(step -> step.repeat() == 1)
        .sorted(Comparator.comparingInt(Step::concurrency))
        .forEach(step -> {
          Optional<Level> level =
              swept.flatMap(Swept::sweep).flatMap(sweep -> at(sweep, step.concurrency()));
          Optional<Result> result = level.map(EnginesRun::typical);
          if (result.isEmpty() && trials.stopped()) {
            // Ended by a person: neither measured nor failed.
            return;
          }
          Memory memory =
              swept
                  .map(each -> each.memory().getOrDefault(step.concurrency(), Memory.UNKNOWN))
                  .orElse(Memory.UNKNOWN);
          levels.add(
              new AtConcurrency(
                  step.concurrency(),
                  step.requests(),
                  result,
                  memory.known() ? OptionalLong.of(memory.peakBytes()) : OptionalLong.empty(),
                  level.flatMap(Level::contradiction),
                  result.isPresent() ? "" : trouble.orElse("not run")));
        });
    return levels;
  }

  private static Optional<Level> at(Sweep sweep, int concurrency) {
    return sweep.levels().stream().filter(level -> level.concurrency() == concurrency).findFirst();
  }

  /** Of the repeats that whose throughput is in the middle: the lower one of an even number. */
  private static Result typical(Level level) {
    List<Result> sorted =
        level.runs().stream()
            .sorted(Comparator.comparingDouble(run -> run.summary().outputThroughput()))
            .toList();
    return sorted.get((sorted.size() - 1) / 2);
  }
}
