package dev.flotilla.engine.schedule;

import dev.flotilla.engine.model.KvLayout;
import dev.flotilla.engine.model.PackedStep;
import org.jspecify.annotations.Nullable;

/**
 * What one step computes: of each sequence that takes part the number of its next tokens. Made once
 * and filled anew for every step, so that a step allocates nothing.
 *
 * <p>A sequence whose tokens all are computed after this step has its next token chosen; another,
 * of whose prompt a chunk is computed, has not. (A window of speculated tokens would be a sequence
 * with several rows that all want logits.)
 */
public final class StepPlan {
  private final @Nullable Sequence[] sequences;
  private final int[] rows;
  private int size;
  private int rowCount;

  /** A plan with room for that many sequences. */
  public StepPlan(int sequencesMax) {
    sequences = new Sequence[sequencesMax];
    rows = new int[sequencesMax];
  }

  /** How many sequences take part. */
  public int size() {
    return size;
  }

  /** How many tokens are computed, of all sequences together. */
  public int rowCount() {
    return rowCount;
  }

  /** The sequence at a place. */
  public Sequence sequence(int place) {
    Sequence sequence = sequences[place];
    if (place >= size || sequence == null) {
      throw new IndexOutOfBoundsException(place);
    }
    return sequence;
  }

  /** How many of its tokens are computed, beginning with the first one that is not. */
  public int rows(int place) {
    return rows[place];
  }

  /** Whether its next token is known after this step. */
  public boolean wantsToken(int place) {
    return rows[place] == sequence(place).pending();
  }

  /**
   * Writes the step for the model's runner; of each sequence that wants a token the last row is
   * marked, of a sum of all rows every one.
   */
  public void writeTo(PackedStep step) {
    step.clear();
    for (int i = 0; i < size; i++) {
      Sequence sequence = sequence(i);
      int from = sequence.computed();
      int to = from + rows[i];
      step.sequence(from);
      double[] sum = sequence.sum();
      if (sum != null) {
        step.pool(sum);
      }
      boolean all = sequence.wantsAllRows();
      int blocks = KvLayout.blocksFor(to);
      for (int block = 0; block < blocks; block++) {
        step.block(sequence.table().ids()[block]);
      }
      for (int token = from; token < to; token++) {
        step.row(sequence.tokens()[token], all || token == sequence.length() - 1);
      }
    }
  }

  void clear() {
    for (int i = 0; i < size; i++) {
      sequences[i] = null;
    }
    size = 0;
    rowCount = 0;
  }

  void add(Sequence sequence, int count) {
    sequences[size] = sequence;
    rows[size] = count;
    size++;
    rowCount += count;
  }
}
