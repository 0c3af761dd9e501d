package dev.flotilla.engine.start;

import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.LoadedModel;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.PackedStep;
import dev.flotilla.engine.model.Transformer;
import dev.flotilla.engine.schedule.ScheduleLimits;

/**
 * Steps before anybody asks: as large as any will be, which say what memory the process takes, and
 * as small as most are. The JVM compiles what they run, so the first request does not have to wait
 * for that.
 *
 * <p>They have a small cache of their own, and go through the first {@value #LAYERS} layers alone:
 * every kind of layer is among these, and the others use the same buffers and the same code.
 */
final class DryRun implements AutoCloseable {
  /** Gemma's layers are of two kinds, in turns of six. */
  private static final int LAYERS = 6;

  /** Steps of the largest shape: the compilers follow the first. */
  private static final int LARGEST = 2;

  /** Steps of answers in each slot, in some, and alone: each has kernels of its own. */
  private static final int ANSWERS = 8;

  private static final int SOME = 4;

  private final LoadedModel model;
  private final Transformer runner;
  private final int sequences;
  private final int rowsEach;
  private final int blocks;
  private final PackedStep step;
  private final Logits logits;

  /** Steps within these limits, of a model whose cache is of that type. */
  DryRun(LoadedModel model, KvType kvType, ScheduleLimits limits, Workers workers) {
    this.model = model;
    sequences = limits.sequencesMax();
    rowsEach = limits.rowsMax() / sequences;
    blocks = sequences * KvLayout.blocksFor(rowsEach);
    runner = new Transformer(model, kvType, blocks, limits.rowsMax(), workers);
    runner.runFirst(LAYERS);
    step = new PackedStep(limits.rowsMax(), sequences, blocks);
    logits = new Logits(sequences, model.vocabulary());
  }

  /** Runs the steps. */
  void run() {
    for (int i = 0; i < LARGEST; i++) {
      run(sequences, 0, rowsEach);
    }
    for (int i = 0; i < ANSWERS; i++) {
      run(sequences, rowsEach - 1, 1);
      run(Math.min(SOME, sequences), rowsEach - 1, 1);
      run(1, blocks * KvLayout.PAGE_TOKENS - 1, 1);
    }
  }

  /** What the process takes, with no cache but this one's. */
  ProcessMemory measured() {
    return ProcessMemory.measure(model.weightBytes() + blocks * runner.kvLayout().blockBytes());
  }

  private void run(int count, int before, int rows) {
    int blocksEach = KvLayout.blocksFor(before + rows);
    step.clear();
    for (int sequence = 0; sequence < count; sequence++) {
      step.sequence(before);
      for (int block = 0; block < blocksEach; block++) {
        step.block(sequence * blocksEach + block);
      }
      for (int row = 0; row < rows; row++) {
        step.row((sequence * rows + row) % model.vocabulary(), row == rows - 1);
      }
    }
    runner.run(step, logits);
  }

  @Override
  public void close() {
    runner.close();
  }
}
