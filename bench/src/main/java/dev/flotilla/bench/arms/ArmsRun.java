package dev.flotilla.bench.arms;

import dev.flotilla.bench.arms.ArmsPlan.Step;
import dev.flotilla.bench.dataset.DatasetRefused;
import dev.flotilla.bench.load.ServerUnusable;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.RepeatGuards;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.sweep.Trials;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Makes the runs of an {@link ArmsPlan}, and keeps what the client saw and what the engines
 * counted. Used once, by one thread; the servers are the caller's to end.
 */
public final class ArmsRun {
  /**
   * How far the tokens that the engines generated may be from those that the client counted: beyond
   * it somebody else uses them, or somebody miscounts.
   */
  public static final double UPSTREAM_SHARE = 0.02;

  private final ArmsPlan plan;
  private final Trials trials;
  private final Map<Arm, ArmServer> servers;
  private final int concurrency;
  private final int requests;
  private final Map<Arm, Kept> kept = new EnumMap<>(Arm.class);

  /** What an arm has given so far. */
  private static final class Kept {
    private Optional<Result> first = Optional.empty();
    private final List<Result> runs = new ArrayList<>();
    private final Map<String, ServerCounters> upstream = new LinkedHashMap<>();
  }

  /**
   * @param concurrency requests under way at once, the same for all arms
   * @param requests of each run
   */
  public ArmsRun(
      ArmsPlan plan, Trials trials, Map<Arm, ArmServer> servers, int concurrency, int requests) {
    this.plan = plan;
    this.trials = trials;
    this.servers = new EnumMap<>(servers);
    this.concurrency = concurrency;
    this.requests = requests;
  }

  /**
   * What came of it.
   *
   * @param arms those that have a run that counts, in the order of the plan
   * @param trouble why it ended before its plan did: one sentence
   */
  public record Outcome(List<ArmOutcome> arms, boolean stopped, Optional<String> trouble) {
    public Outcome {
      arms = List.copyOf(arms);
    }

    /** Whether all runs of the plan were made. */
    public boolean whole() {
      return !stopped && trouble.isEmpty();
    }
  }

  /**
   * Makes them.
   *
   * @throws ServerUnusable where an arm has no server to measure and nothing was measured yet
   * @throws DatasetRefused where there are no such prompts to be had
   */
  public Outcome run() throws ServerUnusable, DatasetRefused, InterruptedException {
    Optional<String> trouble = Optional.empty();
    for (Step step : plan.steps()) {
      if (trials.stopped()) {
        break;
      }
      try {
        make(step);
      } catch (ServerUnusable e) {
        if (kept.values().stream().allMatch(arm -> arm.runs.isEmpty())) {
          throw e;
        }
        trouble = Optional.of("arm " + step.arm() + ": " + e.getMessage() + ".");
        break;
      }
    }
    List<ArmOutcome> arms = new ArrayList<>();
    for (Arm arm : plan.steps().stream().map(Step::arm).distinct().toList()) {
      Kept of = kept.get(arm);
      if (of != null && !of.runs.isEmpty()) {
        arms.add(outcome(arm, of));
      }
    }
    return new Outcome(arms, trials.stopped(), trouble);
  }

  private void make(Step step) throws ServerUnusable, DatasetRefused, InterruptedException {
    Arm arm = step.arm();
    ArmServer server = servers.get(arm);
    if (server == null) {
      throw new IllegalStateException("the plan has an arm without a server: " + arm);
    }
    Trials.Meter<Map<String, ServerCounters>> meter = new Trials.Meter<>(server.upstream()::read);
    Optional<Trials.Trial> trial =
        trials.run(words(step), server.engine(), concurrency, requests, meter);
    if (trial.isEmpty()) {
      return;
    }
    Result result = trial.get().result();
    Kept of = kept.computeIfAbsent(arm, each -> new Kept());
    if (!step.counts()) {
      of.first = Optional.of(result);
      return;
    }
    if (trials.stopped() && result.run().requests().stream().noneMatch(r -> r.succeeded())) {
      return;
    }
    of.runs.add(result);
    Map<String, ServerCounters> before = meter.before();
    meter
        .after()
        .forEach((target, now) -> {
          ServerCounters past = before.get(target);
          ServerCounters done = past == null ? now : now.since(past);
          of.upstream.merge(target, done, ServerCounters::plus);
        });
  }

  private static String words(Step step) {
    return "arm "
        + step.arm()
        + " ("
        + step.arm().words()
        + ")"
        + (step.counts() ? ", run " + step.repeat() : ", first run (left out)");
  }

  private static ArmOutcome outcome(Arm arm, Kept of) {
    List<Finding> findings = new ArrayList<>();
    of.first
        .flatMap(first ->
            RepeatGuards.firstRun(first.summary(), of.runs.stream().map(Result::summary).toList()))
        .ifPresent(findings::add);
    contradiction(arm, of).ifPresent(findings::add);
    return new ArmOutcome(arm, of.runs, of.upstream, findings);
  }

  /** Whether the engines did other work than the client saw. */
  private static Optional<Finding> contradiction(Arm arm, Kept of) {
    boolean whole =
        of.runs.stream().noneMatch(run -> run.run().partial() || run.summary().failed() > 0);
    if (of.upstream.isEmpty() || !whole) {
      return Optional.empty();
    }
    long seen = of.runs.stream().mapToLong(run -> run.summary().totalOutputTokens()).sum();
    long counted = of.upstream.values().stream().mapToLong(ServerCounters::generatedTokens).sum();
    if (Math.abs(counted - seen) <= seen * UPSTREAM_SHARE) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            Finding.Kind.CONTRADICTION,
            true,
            "Arm %s: its engines counted %,d generated tokens and the client %,d: somebody else uses them, or one of both miscounts."
                .formatted(arm, counted, seen)));
  }
}
