package dev.flotilla.gguf.tokenizer;

/** Pairs of symbols that are joined, with their rank and what they become: a hash table. */
final class Merges {
  private long[] pairs = new long[1024];
  private int[] ranks = new int[1024];
  private int[] joined = new int[1024];
  private int count;

  /** Adds a pair; the first of equal ones counts. */
  void add(int left, int right, int rank, int becomes) {
    if (2 * (count + 1) > pairs.length) {
      grow();
    }
    long pair = pair(left, right);
    int slot = slot(pair);
    if (pairs[slot] == 0) {
      pairs[slot] = pair;
      ranks[slot] = rank;
      joined[slot] = becomes;
      count++;
    }
  }

  /** Where a pair is, -1 where it is none. */
  int find(int left, int right) {
    int slot = slot(pair(left, right));
    return pairs[slot] == 0 ? -1 : slot;
  }

  int rank(int slot) {
    return ranks[slot];
  }

  int joined(int slot) {
    return joined[slot];
  }

  /** Never 0, which marks a free slot. */
  private static long pair(int left, int right) {
    return ((long) left + 1) << 32 | right;
  }

  private int slot(long pair) {
    long hash = pair * 0x9e3779b97f4a7c15L;
    int slot = (int) (hash >>> 32) & pairs.length - 1;
    while (pairs[slot] != 0 && pairs[slot] != pair) {
      slot = slot + 1 & pairs.length - 1;
    }
    return slot;
  }

  private void grow() {
    long[] oldPairs = pairs;
    int[] oldRanks = ranks;
    int[] oldJoined = joined;
    pairs = new long[2 * oldPairs.length];
    ranks = new int[pairs.length];
    joined = new int[pairs.length];
    for (int i = 0; i < oldPairs.length; i++) {
      if (oldPairs[i] != 0) {
        int slot = slot(oldPairs[i]);
        pairs[slot] = oldPairs[i];
        ranks[slot] = oldRanks[i];
        joined[slot] = oldJoined[i];
      }
    }
  }
}
