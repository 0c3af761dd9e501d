package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.SequenceRows;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One step of the engine: rows of several sequences on one packed axis, prefill chunks and decodes
 * alike.
 *
 * <p>A row is one token of a sequence at its absolute position. The rows of a sequence are
 * consecutive, in rising positions, and follow what the cache already holds of the sequence ({@link
 * #contextBefore}). A sequence's block table names the block of each {@link KvLayout#PAGE_TOKENS}
 * positions, from 0 to the last row's. Rows of which something is wanted are marked, any of them:
 * their logits, or, in a sequence that is {@link #pool pooled}, what they have become behind the
 * last norm, which is added to the sequence's sum.
 *
 * <p>Filled by {@link #clear}, then {@link #sequence}, {@link #pool} where it is wanted, {@link
 * #block} and {@link #row} for each sequence. Made once for the largest step and filled again for
 * each, so that a step allocates nothing; not safe for use by several threads.
 *
 * <p>Invariants: sequences have at least one row and exactly the blocks that their tokens need;
 * positions are below {@code blocksPerSequenceMax} pages. {@link #checkComplete} says so.
 */
public final class PackedStep implements SequenceRows {
  private final int[] tokens;
  private final int[] positions;
  private final int[] rowSequence;
  private final int[] markedRows;
  private final int[] firstRow;
  private final int[] rowCount;
  private final int[] contextBefore;
  private final int[] blockCount;
  private final int[] blocks;
  private final double[] @Nullable [] sums;
  private final int blocksPerSequenceMax;
  private int rows;
  private int marked;
  private int markedForLogits;
  private int sequences;

  /** Room for steps of that size. */
  public PackedStep(int rowsMax, int sequencesMax, int blocksPerSequenceMax) {
    this.blocksPerSequenceMax = blocksPerSequenceMax;
    tokens = new int[rowsMax];
    positions = new int[rowsMax];
    rowSequence = new int[rowsMax];
    markedRows = new int[rowsMax];
    firstRow = new int[sequencesMax];
    rowCount = new int[sequencesMax];
    contextBefore = new int[sequencesMax];
    blockCount = new int[sequencesMax];
    sums = new double[sequencesMax][];
    blocks = new int[Math.multiplyExact(sequencesMax, blocksPerSequenceMax)];
  }

  /** Forgets everything. */
  public void clear() {
    rows = 0;
    marked = 0;
    markedForLogits = 0;
    sequences = 0;
  }

  /** Begins the next sequence, of which the cache holds so many tokens. */
  public void sequence(int tokensBefore) {
    if (tokensBefore < 0) {
      throw new IllegalArgumentException("context of " + tokensBefore + " tokens");
    }
    firstRow[sequences] = rows;
    rowCount[sequences] = 0;
    contextBefore[sequences] = tokensBefore;
    blockCount[sequences] = 0;
    sums[sequences] = null;
    sequences++;
  }

  /**
   * The sequence begun last has no logits: what its marked rows become is added to these numbers,
   * as many as the model's width, in the rows' order.
   */
  public void pool(double[] sum) {
    sums[sequences - 1] = sum;
  }

  /** Adds the next block to the block table of the sequence begun last. */
  public void block(int block) {
    int sequence = sequences - 1;
    if (blockCount[sequence] == blocksPerSequenceMax) {
      throw new IllegalArgumentException("more than %d blocks".formatted(blocksPerSequenceMax));
    }
    blocks[sequence * blocksPerSequenceMax + blockCount[sequence]++] = block;
  }

  /** Adds the next row to the sequence begun last; a marked one is wanted. */
  public void row(int token, boolean mark) {
    int sequence = sequences - 1;
    tokens[rows] = token;
    positions[rows] = contextBefore[sequence] + rowCount[sequence]++;
    rowSequence[rows] = sequence;
    if (mark) {
      markedRows[marked++] = rows;
      markedForLogits += sums[sequence] == null ? 1 : 0;
    }
    rows++;
  }

  /** Rows of the step. */
  public int rows() {
    return rows;
  }

  /** The row's token. */
  public int token(int row) {
    return tokens[row];
  }

  /** The row's absolute position in its sequence, from 0. */
  public int position(int row) {
    return positions[row];
  }

  /** The sequence that the row belongs to. */
  public int sequenceOf(int row) {
    return rowSequence[row];
  }

  /** Rows that are marked. */
  public int marked() {
    return marked;
  }

  /** Rows whose logits are wanted: those that are marked, in sequences that are not pooled. */
  public int markedForLogits() {
    return markedForLogits;
  }

  /** What the sequence's marked rows are added to; null where their logits are wanted. */
  public double @Nullable [] sum(int sequence) {
    return sums[sequence];
  }

  /** The {@code index}-th row that is marked. */
  public int markedRow(int index) {
    return markedRows[index];
  }

  /** Sequences of the step. */
  @Override
  public int sequences() {
    return sequences;
  }

  /** The sequence's first row. */
  @Override
  public int firstRow(int sequence) {
    return firstRow[sequence];
  }

  /** The sequence's rows. */
  @Override
  public int rowCount(int sequence) {
    return rowCount[sequence];
  }

  /** Tokens of the sequence that the cache holds before the step. */
  @Override
  public int contextBefore(int sequence) {
    return contextBefore[sequence];
  }

  /** Blocks in the sequence's table. */
  public int blockCount(int sequence) {
    return blockCount[sequence];
  }

  /** The block of the sequence's positions from {@code index} pages on. */
  @Override
  public int block(int sequence, int index) {
    return blocks[sequence * blocksPerSequenceMax + index];
  }

  /**
   * Checks the invariants, and that tokens and blocks are in range.
   *
   * @throws IllegalArgumentException that names the first that is broken
   */
  public void checkComplete(int vocabulary, int kvBlocks) {
    for (int s = 0; s < sequences; s++) {
      int needed = KvLayout.blocksFor(contextBefore[s] + rowCount[s]);
      if (rowCount[s] == 0 || blockCount[s] != needed) {
        throw new IllegalArgumentException(
            "sequence %d has %d tokens before, %d rows and %d blocks"
                .formatted(s, contextBefore[s], rowCount[s], blockCount[s]));
      }
      int from = s * blocksPerSequenceMax;
      for (int i = from; i < from + needed; i++) {
        if (blocks[i] < 0 || blocks[i] >= kvBlocks) {
          throw new IllegalArgumentException(
              "sequence %d names block %d of %d".formatted(s, blocks[i], kvBlocks));
        }
      }
    }
    for (int row = 0; row < rows; row++) {
      if (tokens[row] < 0 || tokens[row] >= vocabulary) {
        throw new IllegalArgumentException(
            "row %d has token %d of %d".formatted(row, tokens[row], vocabulary));
      }
    }
  }

  @Override
  public String toString() {
    return "%d rows of %d sequences, rows each %s"
        .formatted(rows, sequences, Arrays.toString(Arrays.copyOf(rowCount, sequences)));
  }
}
