package dev.flotilla.engine.start;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvCache;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.schedule.ScheduleLimits;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * From a header to a runner whose cache is as large as the budget allows, and taken.
 *
 * <p>What the process takes beside weights and cache is known when {@linkplain DryRun steps} have
 * run; but taking a cache may wait for the system for seconds. So where the largest cache that is
 * any use fits beside all that a process has ever been seen to take, it is made first of all, and
 * taken while the weights are read. Else the steps run with a small cache, and the one that fits is
 * made afterwards.
 *
 * <p>Life: made when the header is read, {@link #run} once when the weights are; {@link #close}
 * frees what has not become part of a runner.
 */
final class FirstSteps implements AutoCloseable {
  /** More than a process takes beside heap, weights and cache; measured are 130 to 180 MiB. */
  private static final long PROCESS_BYTES_MAX = 384L << 20;

  private final StartOptions options;
  private final KvLayout layout;
  private final int context;
  private final ScheduleLimits limits;
  private final int threads;
  private final CacheTouch touch;
  private @Nullable KvCache cache;

  /** What they lead to: how the budget is divided, and a runner, which is to be closed. */
  record Ready(MemoryPlan plan, Transformer runner) {}

  /** The plan, and the runner of the steps where its cache is what the plan says. */
  private record Measured(MemoryPlan plan, Optional<Transformer> runner) {}

  /**
   * Makes a cache, and begins to take its memory.
   *
   * @param weightBytes what the weights will take
   * @param threads that compute
   */
  FirstSteps(
      StartOptions options,
      KvLayout layout,
      int context,
      long weightBytes,
      ScheduleLimits limits,
      int threads) {
    this.options = options;
    this.layout = layout;
    this.context = context;
    this.limits = limits;
    this.threads = threads;
    int stepBlocks = DryRun.blocks(limits);
    long most = (long) KvLayout.blocksFor(context) * options.slots();
    boolean whole = most >= stepBlocks && fits(most, weightBytes);
    KvCache made = new KvCache(layout, whole ? (int) most : stepBlocks);
    cache = made;
    touch = CacheTouch.start(made.pages(), threads);
  }

  private boolean fits(long blocks, long weightBytes) {
    long others = weightBytes + Runtime.getRuntime().maxMemory() + PROCESS_BYTES_MAX;
    return blocks <= Integer.MAX_VALUE
        && blocks * layout.blockBytes() <= options.budget().bytes() - others;
  }

  /** Runs the steps, takes the cache, and says in {@code times} what that took. */
  Ready run(LoadedModel model, Workers workers, StartTimes times) throws StartRefused {
    Measured measured = measure(model, workers, times);
    // The steps' own runner is gone here: the heap need not hold two.
    Transformer runner =
        measured.runner().orElseGet(() -> taken(model, workers, measured.plan().blocks()));
    times.passed("cache");
    return new Ready(measured.plan(), runner);
  }

  private Measured measure(LoadedModel model, Workers workers, StartTimes times)
      throws StartRefused {
    Transformer runner = new Transformer(model, handedOver(), limits.rowsMax(), workers);
    boolean kept = false;
    try {
      new DryRun(runner, limits).run();
      times.passed("first steps");
      touch.await();
      long known = model.weightBytes() + runner.pages().bytes();
      MemoryPlan plan = plan(model.weightBytes(), ProcessMemory.measure(known));
      kept = plan.blocks() == runner.kvBlocks();
      return new Measured(plan, kept ? Optional.of(runner) : Optional.empty());
    } finally {
      if (!kept) {
        touch.close();
        runner.close();
      }
    }
  }

  private KvCache handedOver() {
    KvCache made = cache;
    if (made == null) {
      throw new IllegalStateException("run twice, or behind close");
    }
    cache = null;
    return made;
  }

  private Transformer taken(LoadedModel model, Workers workers, int blocks) {
    KvCache made = new KvCache(layout, blocks);
    try (CacheTouch all = CacheTouch.start(made.pages(), threads)) {
      all.await();
    }
    return new Transformer(model, made, limits.rowsMax(), workers);
  }

  private MemoryPlan plan(long weightBytes, ProcessMemory process) throws StartRefused {
    return MemoryPlan.of(
        options.budget(), weightBytes, process, layout.blockBytes(), context, options.slots());
  }

  @Override
  public void close() {
    touch.close();
    KvCache left = cache;
    if (left != null) {
      cache = null;
      left.close();
    }
  }
}
