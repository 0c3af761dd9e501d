package dev.flotilla.engine.start;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.schedule.ScheduleLimits;
import java.util.Optional;

/**
 * From weights to a runner whose cache is as large as the budget allows, and taken.
 *
 * <p>What the process takes beside weights and cache is known when {@linkplain DryRun steps} have
 * run, and these wait for the compiler most of the time, while taking a cache may wait for the
 * system. So where the largest cache that is any use fits beside all that a process has ever been
 * seen to take, both happen at once. Else the steps run with a small cache, and the one that fits
 * is made afterwards.
 */
final class FirstSteps {
  /** More than a process takes beside heap, weights and cache; measured are 130 to 180 MiB. */
  private static final long PROCESS_BYTES_MAX = 384L << 20;

  private final StartOptions options;
  private final LoadedModel model;
  private final int context;
  private final ScheduleLimits limits;
  private final Workers workers;

  /** What they lead to: how the budget is divided, and a runner, which is to be closed. */
  record Ready(MemoryPlan plan, Transformer runner) {}

  /** The plan, and the runner of the steps where its cache is what the plan says. */
  private record Measured(MemoryPlan plan, Optional<Transformer> runner) {}

  FirstSteps(
      StartOptions options,
      LoadedModel model,
      int context,
      ScheduleLimits limits,
      Workers workers) {
    this.options = options;
    this.model = model;
    this.context = context;
    this.limits = limits;
    this.workers = workers;
  }

  /** Runs the steps, takes the cache, and says in {@code times} what that took. */
  Ready run(StartTimes times) throws StartRefused {
    Measured measured = measure(times);
    // The steps' own runner is gone here: the heap need not hold two.
    Transformer runner = measured.runner().orElseGet(() -> taken(measured.plan().blocks()));
    times.passed("cache");
    return new Ready(measured.plan(), runner);
  }

  private Measured measure(StartTimes times) throws StartRefused {
    int stepBlocks = DryRun.blocks(limits);
    long most = (long) KvLayout.blocksFor(context) * options.slots();
    Transformer runner = runner(most >= stepBlocks && fits(most) ? (int) most : stepBlocks);
    boolean kept = false;
    try (CacheTouch touch = CacheTouch.start(runner.pages(), workers.size())) {
      new DryRun(runner, limits).run();
      times.passed("first steps");
      touch.await();
      MemoryPlan plan = plan(ProcessMemory.measure(model.weightBytes() + runner.pages().bytes()));
      kept = plan.blocks() == runner.kvBlocks();
      return new Measured(plan, kept ? Optional.of(runner) : Optional.empty());
    } finally {
      if (!kept) {
        runner.close();
      }
    }
  }

  private boolean fits(long blocks) {
    long cache = blocks * model.kvLayout(options.kvType()).blockBytes();
    long others = model.weightBytes() + Runtime.getRuntime().maxMemory() + PROCESS_BYTES_MAX;
    return blocks <= Integer.MAX_VALUE && cache <= options.budget().bytes() - others;
  }

  @SuppressWarnings("MustBeClosedChecker") // whoever asks for the runner
  private Transformer runner(int blocks) {
    return new Transformer(model, options.kvType(), blocks, limits.rowsMax(), workers);
  }

  private Transformer taken(int blocks) {
    Transformer made = runner(blocks);
    try (CacheTouch touch = CacheTouch.start(made.pages(), workers.size())) {
      touch.await();
    }
    return made;
  }

  private MemoryPlan plan(ProcessMemory process) throws StartRefused {
    return MemoryPlan.of(
        options.budget(),
        model.weightBytes(),
        process,
        model.kvLayout(options.kvType()).blockBytes(),
        context,
        options.slots());
  }
}
