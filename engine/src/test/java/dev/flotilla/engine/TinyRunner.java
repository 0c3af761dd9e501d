package dev.flotilla.engine;

import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.KvType;
import dev.flotilla.engine.model.Logits;
import dev.flotilla.engine.model.ModelRunner;
import dev.flotilla.engine.model.PackedStep;
import java.util.Arrays;

/**
 * A model of which the next token follows from exactly the tokens that are visible in its pages: a
 * wrong block, a block that another sequence wrote into, or a token that was not computed gives
 * another answer than {@link #next} says.
 */
public final class TinyRunner implements ModelRunner {
  /** Numbers of a vector. */
  public static final int WIDTH = 4;

  private static final long NOTHING = 0;

  private final int vocabulary;
  private final int contextMax;
  private final long[] pages;
  private final int blocks;

  /** Runs after each step's check, so that a test may hold or break a step. */
  private Runnable inStep = () -> {};

  public TinyRunner(int vocabulary, int contextMax, int blocks) {
    this.vocabulary = vocabulary;
    this.contextMax = contextMax;
    this.blocks = blocks;
    this.pages = new long[blocks * KvLayout.PAGE_TOKENS];
  }

  public void inStep(Runnable action) {
    inStep = action;
  }

  @Override
  public int vocabulary() {
    return vocabulary;
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
    return blocks;
  }

  @Override
  public void run(PackedStep step, Logits out) {
    step.checkComplete(vocabulary, blocks);
    inStep.run();
    for (int row = 0; row < step.rows(); row++) {
      pages[slot(step, step.sequenceOf(row), step.position(row))] =
          stored(step.token(row), step.position(row));
    }
    out.begin(step.markedForLogits());
    int said = 0;
    for (int i = 0; i < step.marked(); i++) {
      int row = step.markedRow(i);
      long seen = NOTHING;
      for (int position = 0; position <= step.position(row); position++) {
        seen = mix(seen, pages[slot(step, step.sequenceOf(row), position)]);
      }
      double[] sum = step.sum(step.sequenceOf(row));
      if (sum == null) {
        fill(out.row(said), seen);
        said++;
      } else {
        add(sum, seen);
      }
    }
  }

  private static void add(double[] sum, long seen) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += mix(seen, i) >>> 50;
    }
  }

  /** The sum of all rows of a text, or of its last one alone. */
  public double[] sum(int[] tokens, boolean all) {
    double[] sum = new double[WIDTH];
    long seen = NOTHING;
    for (int position = 0; position < tokens.length; position++) {
      seen = mix(seen, stored(tokens[position], position));
      if (all || position == tokens.length - 1) {
        add(sum, seen);
      }
    }
    return sum;
  }

  private static int slot(PackedStep step, int sequence, int position) {
    return step.block(sequence, position / KvLayout.PAGE_TOKENS) * KvLayout.PAGE_TOKENS
        + position % KvLayout.PAGE_TOKENS;
  }

  private static long stored(int token, int position) {
    return mix(token + 1L, position + 1L);
  }

  private static long mix(long a, long b) {
    long mixed = (a ^ b * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
    return mixed ^ (mixed >>> 31);
  }

  private void fill(float[] logits, long seen) {
    long state = seen;
    for (int token = 0; token < vocabulary; token++) {
      state = mix(state, token);
      logits[token] = (state >>> 40) / (float) (1 << 22);
    }
    logits[(int) Long.remainderUnsigned(seen, vocabulary)] = 6;
  }

  /** What the model says first of all after these tokens. */
  public int next(int[] tokens, int length) {
    long seen = NOTHING;
    for (int position = 0; position < length; position++) {
      seen = mix(seen, stored(tokens[position], position));
    }
    return (int) Long.remainderUnsigned(seen, vocabulary);
  }

  /** The greedy answer of that many tokens. */
  public int[] answer(int[] prompt, int count) {
    int[] tokens = Arrays.copyOf(prompt, prompt.length + count);
    for (int i = prompt.length; i < tokens.length; i++) {
      tokens[i] = next(tokens, i);
    }
    return Arrays.copyOfRange(tokens, prompt.length, tokens.length);
  }
}
