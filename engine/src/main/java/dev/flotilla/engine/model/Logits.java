package dev.flotilla.engine.model;

/**
 * What a step's rows that are marked for logits say of the next token: for each, one number per
 * token of the vocabulary, natural logarithms up to a constant of the row.
 *
 * <p>Made once for the largest step and used again for each; not safe for use by several threads.
 */
public final class Logits {
  private final float[][] rows;
  private int count;

  /** Room for so many marked rows. */
  public Logits(int rowsMax, int vocabulary) {
    rows = new float[rowsMax][vocabulary];
  }

  /** Rows that there is room for. */
  public int rowsMax() {
    return rows.length;
  }

  /** Rows that the last step marked. */
  public int rows() {
    return count;
  }

  /**
   * The numbers of the {@code index}-th marked row, in the order of the step's rows; the caller may
   * change them, and the next step overwrites them.
   */
  public float[] row(int index) {
    if (index >= count) {
      throw new IndexOutOfBoundsException("row %d of %d".formatted(index, count));
    }
    return rows[index];
  }

  float[][] rowArrays() {
    return rows;
  }

  /** Says how many rows the coming step fills; for runners. */
  public void begin(int markedRows) {
    if (markedRows > rows.length) {
      throw new IllegalArgumentException(
          "%d rows want logits, there is room for %d".formatted(markedRows, rows.length));
    }
    count = markedRows;
  }
}
