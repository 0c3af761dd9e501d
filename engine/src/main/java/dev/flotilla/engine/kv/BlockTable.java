package dev.flotilla.engine.kv;

import java.util.Arrays;

/**
 * The blocks of one sequence, in the order of its tokens: token {@code i} lies in block {@code i /
 * blockTokens}.
 *
 * <p>Invariant: every block is held once in the pool for its place here; the first {@code
 * published} of them are full, computed, and stand in the pool with their content (or the same
 * content stands there in another block).
 *
 * <p>Life: empty; {@link #adopt} takes what the cache has of the sequence's beginning; {@link
 * #extend} takes blocks for more tokens; {@link #publish} lets others use what is computed; {@link
 * #release} gives all back, after which the table may be used again, as after a preemption.
 */
public final class BlockTable {
  private final BlockPool pool;
  private final long root;
  private int[] ids = new int[8];
  private int size;
  private int published;
  private long lastContent;

  /**
   * An empty table.
   *
   * @param root a negative number; sequences share blocks with those of the same root only
   */
  public BlockTable(BlockPool pool, long root) {
    if (root >= 0) {
      throw new IllegalArgumentException("a root is negative, not " + root);
    }
    this.pool = pool;
    this.root = root;
    this.lastContent = root;
  }

  /** How many blocks there are. */
  public int size() {
    return size;
  }

  /** The blocks' numbers; what stands behind {@link #size} means nothing. Not to be written. */
  public int[] ids() {
    return ids;
  }

  /**
   * How many of the first {@code limit} tokens lie in cached blocks, from the start without a gap;
   * nothing changes.
   */
  public int cached(int[] tokens, int limit) {
    long parent = root;
    int count = 0;
    while (count + pool.blockTokens() <= limit) {
      int block = pool.find(parent, tokens, count);
      if (block == BlockPool.NONE) {
        break;
      }
      parent = pool.content(block);
      count += pool.blockTokens();
    }
    return count;
  }

  /**
   * Takes the cached blocks of a sequence's beginning into an empty table, as far as they lie
   * within the first {@code limit} tokens.
   *
   * @return how many tokens need not be computed
   */
  public int adopt(int[] tokens, int limit) {
    if (size != 0) {
      throw new IllegalStateException("the table has " + size + " blocks already");
    }
    int count = 0;
    while (count + pool.blockTokens() <= limit) {
      int block = pool.find(lastContent, tokens, count);
      if (block == BlockPool.NONE) {
        break;
      }
      pool.hold(block);
      append(block);
      published++;
      lastContent = pool.content(block);
      count += pool.blockTokens();
    }
    return count;
  }

  /** How many blocks are missing for that many tokens. */
  public int missing(int tokenCount) {
    return Math.max(0, pool.blocksFor(tokenCount) - size);
  }

  /**
   * Takes blocks so that there is room for that many tokens; false, and no change, if too few are
   * free.
   */
  public boolean extend(int tokenCount) {
    int missing = missing(tokenCount);
    if (missing > pool.free()) {
      return false;
    }
    for (int i = 0; i < missing; i++) {
      append(pool.take());
    }
    return true;
  }

  /** Lets others use the full blocks among the first {@code computed} tokens. */
  public void publish(int[] tokens, int computed) {
    while ((published + 1) * pool.blockTokens() <= computed) {
      int from = published * pool.blockTokens();
      lastContent = pool.publish(ids[published], lastContent, tokens, from);
      published++;
    }
  }

  /** Gives all blocks back, the last one first. */
  public void release() {
    for (int i = size - 1; i >= 0; i--) {
      pool.release(ids[i]);
    }
    size = 0;
    published = 0;
    lastContent = root;
  }

  /** Counts in {@code held} the blocks of this table: for {@link BlockPool#checkInvariants}. */
  public void countInto(int[] held) {
    for (int i = 0; i < size; i++) {
      held[ids[i]]++;
    }
  }

  private void append(int block) {
    if (size == ids.length) {
      ids = Arrays.copyOf(ids, size * 2);
    }
    ids[size] = block;
    size++;
  }
}
