package dev.flotilla.engine.serve;

import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.ModelRunner;
import dev.flotilla.engine.model.PackedStep;
import dev.flotilla.gguf.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.concurrent.Semaphore;

/** A model that says, after the last mark of a turn or the whole prompt, what the test wants. */
final class SpeakingRunner implements ModelRunner {
  /** Numbers of a vector: a row adds one at its token's place. */
  static final int WIDTH = 256;

  private static final int BLOCKS = 256;
  private static final String TURN = "assistant\n";

  private final Tokenizer tokenizer;
  private final int[] pages = new int[BLOCKS * KvLayout.PAGE_TOKENS];
  private final int contextMax;
  private volatile int[] speech = new int[0];
  private volatile boolean stepwise;
  private final Semaphore steps = new Semaphore(0);

  SpeakingRunner(Tokenizer tokenizer, int contextMax) {
    this.tokenizer = tokenizer;
    this.contextMax = contextMax;
  }

  void says(String text) {
    speech = tokenizer.tokenize(text, false, true);
  }

  /** From now on each step waits for {@link #step}. */
  void stepwise() {
    stepwise = true;
  }

  void step(int count) {
    steps.release(count);
  }

  @Override
  public int vocabulary() {
    return tokenizer.size();
  }

  @Override
  public int contextMax() {
    return contextMax;
  }

  @Override
  public int width() {
    return WIDTH;
  }

  @Override
  public KvLayout kvLayout() {
    return new KvLayout(1, 1, 32, KvType.F16);
  }

  @Override
  public int kvBlocks() {
    return BLOCKS;
  }

  @Override
  public void run(PackedStep step, Logits out) {
    step.checkComplete(vocabulary(), BLOCKS);
    if (stepwise) {
      steps.acquireUninterruptibly();
    }
    for (int row = 0; row < step.rows(); row++) {
      pages[slot(step, row, step.position(row))] = step.token(row);
    }
    out.begin(step.markedForLogits());
    int spoken = 0;
    for (int i = 0; i < step.marked(); i++) {
      int row = step.markedRow(i);
      double[] sum = step.sum(step.sequenceOf(row));
      if (sum != null) {
        sum[step.token(row) % WIDTH]++;
        continue;
      }
      int last = -1;
      for (int position = 0; position <= step.position(row); position++) {
        if (pages[slot(step, row, position)] == LetterModel.START) {
          last = position;
        }
      }
      int said = step.position(row) - last - (last < 0 ? 0 : TURN.length());
      float[] logits = out.row(spoken);
      spoken++;
      Arrays.fill(logits, -5);
      logits[said >= 0 && said < speech.length ? speech[said] : LetterModel.END] = 5;
    }
  }

  private static int slot(PackedStep step, int row, int position) {
    return step.block(step.sequenceOf(row), position / KvLayout.PAGE_TOKENS) * KvLayout.PAGE_TOKENS
        + position % KvLayout.PAGE_TOKENS;
  }
}
