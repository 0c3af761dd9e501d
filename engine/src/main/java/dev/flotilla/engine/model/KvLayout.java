package dev.flotilla.engine.model;

/**
 * The shape of the paged cache of keys and values: what one block is, and what it takes.
 *
 * <p>A block is one page in every layer: the keys and values of {@link #PAGE_TOKENS} consecutive
 * tokens of one sequence. Blocks have numbers from 0; a block's pages in all layers go by the same
 * number. Who gives out the numbers decides what they hold: a runner reads the blocks that a step's
 * block tables name, writes the rows of the step into them, and knows nothing else of them.
 *
 * @param layers layers that have keys and values of their own
 * @param kvHeads heads of keys and values, the same in each layer
 * @param headSize numbers in one head's key, and in its value; a multiple of 32
 */
public record KvLayout(int layers, int kvHeads, int headSize, KvType type) {

  /** Tokens in one block. One full vector of a 512-bit machine's single-precision scores. */
  public static final int PAGE_TOKENS = 16;

  public KvLayout {
    if (layers < 1 || kvHeads < 1 || headSize < 32 || headSize % 32 != 0) {
      throw new IllegalArgumentException(
          "%d layers, %d heads of %d numbers".formatted(layers, kvHeads, headSize));
    }
  }

  /** Bytes of the keys of one head in one page; its values take as many. */
  private long headPageBytes() {
    return type.bytes((long) PAGE_TOKENS * headSize);
  }

  /** Bytes of one page: keys and values of one block in one layer. */
  public long pageBytes() {
    return 2L * kvHeads * headPageBytes();
  }

  /** Bytes of one block in all layers. */
  public long blockBytes() {
    return layers * pageBytes();
  }

  /** Blocks that hold so many tokens. */
  public static int blocksFor(int tokens) {
    return Math.ceilDiv(tokens, PAGE_TOKENS);
  }
}
