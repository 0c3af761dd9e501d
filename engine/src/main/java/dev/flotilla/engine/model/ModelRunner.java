package dev.flotilla.engine.model;

/**
 * Computes steps of one model.
 *
 * <p>The same token after the same tokens gives the same logits, bit for bit, whatever else is in
 * the step, however the tokens before it were cut into steps, and whichever blocks hold them.
 *
 * <p>One thread calls it at a time. A step allocates nothing.
 */
public interface ModelRunner {
  /** Tokens that there are; token ids are below it. */
  int vocabulary();

  /** Tokens that one sequence may have, by the model's training. */
  int contextMax();

  /** Numbers of what a row becomes: of the sums of {@link PackedStep#pool pooled} sequences. */
  int width();

  /** The shape of the cache. */
  KvLayout kvLayout();

  /** Blocks of the cache: a step's block numbers are below it. */
  int kvBlocks();

  /**
   * Computes all rows of the step, stores their keys and values in the sequences' blocks, writes
   * the logits of the marked rows of sequences that are not pooled, and adds those of the others to
   * their sums.
   *
   * @throws IllegalArgumentException for a token, block or position that is out of range, before
   *     anything is computed
   */
  void run(PackedStep step, Logits out);
}
