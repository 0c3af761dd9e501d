package dev.flotilla.engine.kv;

import java.util.Arrays;

/**
 * The blocks of the KV cache: who holds them, which of them nobody holds, and what lies in them.
 *
 * <p>A block has room for the keys and values of {@link #blockTokens} tokens; the storage is the
 * model runner's, a block is a number here. The pool is sized once and never grows.
 *
 * <p><b>Contents.</b> A block whose tokens are all computed may be <i>published</i>: then it gets a
 * content number, unique for the life of the pool, and another sequence that begins with the same
 * tokens uses the block in place of computing it. A content is its tokens and the content that
 * stands before it, so the chain of numbers says what a chain of hashes says (vLLM's design), and
 * unlike a hash it can't collide: tokens are compared. The first block of a sequence stands on a
 * negative number that names its root; sequences of different roots share nothing.
 *
 * <p><b>Blocks that nobody holds</b> stand in one list. The head is taken first; a block that comes
 * back with content is put at the tail, so the list is in order of last use, and one without
 * content at the head. A content is forgotten only when its block is taken. A sequence gives its
 * blocks back last one first, so what stands on a content is taken before it.
 *
 * <p>Invariants, held by {@link #checkInvariants}: a block stands in the list exactly if nobody
 * holds it; every published content is found by its tokens and no other is; no two blocks have the
 * same content.
 *
 * <p>Used by one thread, the engine's. No method allocates.
 */
public final class BlockPool {
  /** In place of a block, where there is none. */
  public static final int NONE = -1;

  private final int blocks;
  private final int blockTokens;

  /**
   * The list: of each block the one before and the one after; the entry {@code blocks} is both
   * ends.
   */
  private final int[] before;

  private final int[] after;
  private final int[] holders;
  private int free;

  /** Of each block: its content's number, 0 for none; the content it stands on; its tokens. */
  private final long[] content;

  private final long[] standsOn;
  private final int[] tokens;
  private long contents;

  /** Contents by their hash: the first block of each bucket, and of each block the next one. */
  private final int[] buckets;

  private final int[] sameBucket;

  /**
   * An empty pool.
   *
   * @param blocks how many there are, at least 1
   * @param blockTokens tokens that a block has room for, at least 1
   */
  public BlockPool(int blocks, int blockTokens) {
    if (blocks < 1 || blockTokens < 1 || (long) blocks * blockTokens > Integer.MAX_VALUE - 16) {
      throw new IllegalArgumentException(blocks + " blocks of " + blockTokens + " tokens");
    }
    this.blocks = blocks;
    this.blockTokens = blockTokens;
    before = new int[blocks + 1];
    after = new int[blocks + 1];
    holders = new int[blocks];
    content = new long[blocks];
    standsOn = new long[blocks];
    tokens = new int[blocks * blockTokens];
    buckets = new int[Integer.highestOneBit(Math.max(16, blocks)) * 2];
    sameBucket = new int[blocks];
    Arrays.fill(buckets, NONE);
    before[blocks] = blocks;
    after[blocks] = blocks;
    for (int block = 0; block < blocks; block++) {
      link(block, before[blocks]);
    }
  }

  /** How many blocks there are. */
  public int blocks() {
    return blocks;
  }

  /** How many tokens a block has room for. */
  public int blockTokens() {
    return blockTokens;
  }

  /** How many blocks nobody holds: all of them can be taken. */
  public int free() {
    return free;
  }

  /** How many blocks that many tokens need. */
  public int blocksFor(int tokenCount) {
    return Math.ceilDiv(tokenCount, blockTokens);
  }

  /**
   * The block that was unused for longest, held once from now on; its content is forgotten.
   *
   * @throws IllegalStateException where all are held: ask {@link #free} first
   */
  public int take() {
    int block = after[blocks];
    if (block == blocks) {
      throw new IllegalStateException("all " + blocks + " blocks are held");
    }
    unlink(block);
    forget(block);
    holders[block] = 1;
    return block;
  }

  /** One more holds a block, which may be one that nobody held. */
  public void hold(int block) {
    if (holders[block] == 0) {
      unlink(block);
    }
    holders[block]++;
  }

  /** One less holds a block. */
  public void release(int block) {
    if (holders[block] <= 0) {
      throw new IllegalStateException("block " + block + " is given back, and nobody held it");
    }
    holders[block]--;
    if (holders[block] == 0) {
      link(block, content[block] == 0 ? blocks : before[blocks]);
    }
  }

  /**
   * The block with these tokens on that content, or {@link #NONE}.
   *
   * @param parent the content that they stand on, or a root
   * @param from where in the array a block's worth of tokens begins
   */
  public int find(long parent, int[] sequence, int from) {
    int block = buckets[bucket(parent, sequence, from)];
    while (block != NONE && !holds(block, parent, sequence, from)) {
      block = sameBucket[block];
    }
    return block;
  }

  /** The number of a published block's content. */
  public long content(int block) {
    return content[block];
  }

  /**
   * Says what lies in a full block that the caller holds. Where the same lies in another block
   * already, this one stays unpublished.
   *
   * @return the number of the content, for the block that comes after
   */
  public long publish(int block, long parent, int[] sequence, int from) {
    int same = find(parent, sequence, from);
    if (same != NONE) {
      return content[same];
    }
    if (holders[block] == 0 || content[block] != 0) {
      throw new IllegalStateException("block " + block + " is published twice, or held by nobody");
    }
    contents++;
    content[block] = contents;
    standsOn[block] = parent;
    System.arraycopy(sequence, from, tokens, block * blockTokens, blockTokens);
    int bucket = bucket(parent, sequence, from);
    sameBucket[block] = buckets[bucket];
    buckets[bucket] = block;
    return contents;
  }

  /** Forgets every content of the blocks that nobody holds. */
  public void forgetUnheld() {
    for (int block = after[blocks]; block != blocks; block = after[block]) {
      forget(block);
    }
  }

  private boolean holds(int block, long parent, int[] sequence, int from) {
    int own = block * blockTokens;
    return standsOn[block] == parent
        && Arrays.equals(tokens, own, own + blockTokens, sequence, from, from + blockTokens);
  }

  private void forget(int block) {
    if (content[block] == 0) {
      return;
    }
    int bucket = bucket(standsOn[block], tokens, block * blockTokens);
    if (buckets[bucket] == block) {
      buckets[bucket] = sameBucket[block];
    } else {
      int each = buckets[bucket];
      while (sameBucket[each] != block) {
        each = sameBucket[each];
      }
      sameBucket[each] = sameBucket[block];
    }
    content[block] = 0;
  }

  private int bucket(long parent, int[] sequence, int from) {
    long hash = parent * 0x9E3779B97F4A7C15L;
    for (int i = from; i < from + blockTokens; i++) {
      hash = (hash ^ sequence[i]) * 0xD6E8FEB86659FD93L;
      hash ^= hash >>> 32;
    }
    return (int) (hash ^ (hash >>> 29)) & (buckets.length - 1);
  }

  private void link(int block, int behind) {
    int ahead = after[behind];
    before[block] = behind;
    after[block] = ahead;
    after[behind] = block;
    before[ahead] = block;
    free++;
  }

  private void unlink(int block) {
    after[before[block]] = after[block];
    before[after[block]] = before[block];
    free--;
  }

  /**
   * Throws where the class's invariants don't hold: for tests.
   *
   * @param held of each block how many tables have it
   */
  public void checkInvariants(int[] held) {
    boolean[] listed = new boolean[blocks];
    int count = 0;
    for (int block = after[blocks]; block != blocks; block = after[block]) {
      require(!listed[block], block, "is listed twice");
      require(before[after[block]] == block, block, "is not where its neighbour says");
      listed[block] = true;
      count++;
    }
    require(count == free, NONE, count + " blocks are listed, and " + free + " counted");
    for (int block = 0; block < blocks; block++) {
      require(holders[block] == held[block], block, "is held by " + holders[block]);
      require(listed[block] == (holders[block] == 0), block, "is listed, or isn't, wrongly");
      if (content[block] != 0) {
        int found = find(standsOn[block], tokens, block * blockTokens);
        require(found == block, block, "is not found by its content, but " + found);
      }
    }
    for (int first : buckets) {
      for (int block = first; block != NONE; block = sameBucket[block]) {
        require(content[block] != 0, block, "is found, and has no content");
      }
    }
  }

  private static void require(boolean holds, int block, String what) {
    if (!holds) {
      throw new IllegalStateException("block " + block + ": " + what);
    }
  }
}
