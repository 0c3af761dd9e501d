package dev.flotilla.engine.start;

import dev.flotilla.engine.ThreadEnd;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.ModelOutline;
import dev.flotilla.engine.model.ModelRefused;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.sample.Sampling;
import dev.flotilla.engine.schedule.ScheduleLimits;
import org.jspecify.annotations.Nullable;

/**
 * Has the JVM compile what steps run while the model is still read: steps of a {@linkplain
 * LoadedModel#miniature miniature} of it, on one thread, which waits for the compiler most of the
 * time. More threads would go through the same methods before they are compiled, at a hundredth of
 * their speed.
 *
 * <p>Small steps come first, since a method that is called often enough is compiled once, and one
 * that loops for long in its first call is compiled a second time for that loop.
 *
 * <p>Life: {@link #start}, then {@link #await}, behind which the kernels are compiled and the
 * miniature is gone; {@link #close} ends it early.
 */
final class FirstCalls implements AutoCloseable {
  /** Steps of one shape after which its kernels are compiled. */
  private static final int STEPS = 6;

  private static final ScheduleLimits LIMITS = new ScheduleLimits(64, 8, 1);

  /** Behind so many tokens attention goes through more than one stretch of pages. */
  private static final int BEFORE = 120;

  /** Blocks for sequences of that length. */
  private static final int BLOCKS = 64;

  private final LoadedModel miniature;
  private final KvType kvType;
  private final Thread thread;
  private volatile boolean stopped;
  private volatile @Nullable Throwable failure;

  private FirstCalls(LoadedModel miniature, KvType kvType) {
    this.miniature = miniature;
    this.kvType = kvType;
    thread = Thread.ofPlatform().daemon().name("first-calls").unstarted(this::run);
  }

  /**
   * Begins.
   *
   * @throws ModelRefused where the model can't be computed
   */
  static FirstCalls start(ModelOutline outline, KvType kvType) throws ModelRefused {
    FirstCalls calls = new FirstCalls(LoadedModel.miniature(outline), kvType);
    calls.thread.start();
    return calls;
  }

  private void run() {
    try (miniature;
        Workers alone = new Workers(1);
        Transformer runner = new Transformer(miniature, kvType, BLOCKS, LIMITS.rowsMax(), alone)) {
      DryRun steps = new DryRun(runner, LIMITS);
      repeat(() -> steps.run(1, BEFORE, 1));
      repeat(() -> steps.run(LIMITS.sequencesMax(), 0, LIMITS.rowsMax() / LIMITS.sequencesMax()));
      repeat(() -> steps.run(DryRun.SOME, BEFORE, 1));
      if (!stopped) {
        steps.answer(Sampling.GREEDY);
        steps.answer(DryRun.DRAWN);
      }
    } catch (RuntimeException | Error bug) { // thrown by await
      failure = bug;
    }
  }

  private void repeat(Runnable step) {
    for (int i = 0; i < STEPS && !stopped; i++) {
      step.run();
    }
  }

  /** Waits until all is compiled. */
  void await() {
    ThreadEnd.await(thread);
    Throwable failed = failure;
    if (failed != null) {
      throw new IllegalStateException("the first calls failed", failed);
    }
  }

  @Override
  public void close() {
    stopped = true;
    ThreadEnd.await(thread);
  }
}
