package dev.flotilla.engine.start;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.Generation;
import dev.flotilla.engine.GenerationRequest;
import dev.flotilla.engine.Pooling;
import dev.flotilla.engine.Wakeup;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.PackedStep;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.sample.Bias;
import dev.flotilla.engine.sample.Sampling;
import dev.flotilla.engine.schedule.ScheduleLimits;
import java.util.Arrays;
import java.util.Optional;

/**
 * Steps before anybody asks: as large as any will be, which say what memory the process takes, and
 * as small as most are; then answers, which go the whole way from the schedule to the chosen token.
 * The JVM compiles what they run, so the first request does not have to wait for that.
 *
 * <p>They go through the first layers alone: every kind of layer is among these, and the others use
 * the same buffers and the same code. What they leave in the cache nobody reads.
 */
final class DryRun {
  /** Steps of answers in each slot, in some, and alone: each has kernels of its own. */
  private static final int SHAPES = 4;

  static final int SOME = 4;

  /** Tokens of an answer and of its prompt. */
  private static final int ANSWER_TOKENS = 32;

  private static final int PROMPT_TOKENS = 20;

  /** An answer that is drawn as one of which nobody says how. */
  static final Sampling DRAWN = new Sampling(0.8, 40, 0.95, 0.05, 1, 0, 0, Bias.NONE, 1);

  private final Transformer runner;
  private final ScheduleLimits limits;
  private final int sequences;
  private final int rowsEach;
  private final int blocks;
  private final PackedStep step;
  private final Logits logits;

  /** Steps within these limits, of a runner with {@link #blocks} in its cache or more. */
  DryRun(Transformer runner, ScheduleLimits limits) {
    this.runner = runner;
    this.limits = limits;
    sequences = limits.sequencesMax();
    rowsEach = limits.rowsMax() / sequences;
    blocks = blocks(limits);
    step = new PackedStep(limits.rowsMax(), sequences, blocks);
    logits = new Logits(sequences, runner.vocabulary());
  }

  /** Blocks of the cache that the steps go through. */
  static int blocks(ScheduleLimits limits) {
    return limits.sequencesMax() * KvLayout.blocksFor(limits.rowsMax() / limits.sequencesMax());
  }

  /** Runs the steps. */
  void run() {
    runner.runFirstOfAllKinds();
    run(sequences, 0, rowsEach);
    for (int i = 0; i < SHAPES; i++) {
      run(sequences, rowsEach - 1, 1);
      run(Math.min(SOME, sequences), rowsEach - 1, 1);
      run(1, blocks * KvLayout.PAGE_TOKENS - 1, 1);
    }
    answer(Sampling.GREEDY);
    answer(DRAWN);
    runner.runAll();
  }

  /** One short answer, from the schedule to the chosen tokens. */
  void answer(Sampling sampling) {
    int[] prompt = new int[Math.min(PROMPT_TOKENS, runner.contextMax() - 1)];
    Arrays.setAll(prompt, i -> i % runner.vocabulary());
    GenerationRequest request =
        new GenerationRequest(
            prompt,
            sampling,
            ANSWER_TOKENS,
            0,
            new int[0],
            true,
            new int[0],
            -1,
            Optional.empty(),
            GenerationRequest.COMMON_ROOT,
            0,
            Pooling.NONE);
    // An engine of its own, stepped here, for one short answer: the one that serves has counted
    // nothing of this, and its buffers are not there twice.
    ScheduleLimits one = new ScheduleLimits(limits.rowsMax(), 1, 1);
    int context = Math.min(prompt.length + ANSWER_TOKENS, runner.contextMax());
    try (Engine engine = new Engine(runner, one, context, System::nanoTime)) {
      Generation answer = engine.submit(request, 1, new Wakeup()).getFirst();
      while (answer.ending() == null) {
        engine.step();
      }
    }
  }

  /** One step of so many sequences, each of so many rows behind so many tokens. */
  void run(int count, int before, int rows) {
    int blocksEach = KvLayout.blocksFor(before + rows);
    step.clear();
    for (int sequence = 0; sequence < count; sequence++) {
      step.sequence(before);
      for (int block = 0; block < blocksEach; block++) {
        step.block(sequence * blocksEach + block);
      }
      for (int row = 0; row < rows; row++) {
        step.row((sequence * rows + row) % runner.vocabulary(), row == rows - 1);
      }
    }
    runner.run(step, logits);
  }
}
