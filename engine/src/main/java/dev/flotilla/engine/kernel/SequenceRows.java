package dev.flotilla.engine.kernel;

/** Rows of several sequences on one packed axis, as attention sees them. */
public interface SequenceRows {
  /** Sequences. */
  int sequences();

  /** The sequence's first row. */
  int firstRow(int sequence);

  /** The sequence's rows. */
  int rowCount(int sequence);

  /** Tokens of the sequence before its first row. */
  int contextBefore(int sequence);

  /** The block of the sequence's positions from {@code index} pages on. */
  int block(int sequence, int index);
}
