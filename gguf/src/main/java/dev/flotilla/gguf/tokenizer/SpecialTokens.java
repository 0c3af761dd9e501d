package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.StringTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Finds the tokens that are never merged but stand in the text as they are written.
 *
 * <p>The rule is llama.cpp's: the longest token is looked for in the whole text from the left, then
 * the next longest in what is left between, and so on. Done like that it takes one walk over the
 * text per token, of which some models have thousands. Here one walk finds the longest at each
 * place, and these are accepted in the rule's order where their place is still free; one that is
 * not gives way to the next shorter. That comes to the same.
 */
final class SpecialTokens {
  /** Longer ones would have to be compared to their end at every place of a text. */
  private static final int BYTES_MAX = 256;

  private final StringTable texts;

  /** The tokens in the order of the rule. */
  private final int[] byRank;

  /** Tokens by rank, in the order of their bytes, for each first byte. */
  private final int[][] byFirst = new int[256][];

  /**
   * @param ids the special tokens
   * @throws IllegalArgumentException where one is too long
   */
  SpecialTokens(StringTable texts, List<Integer> ids) {
    this.texts = texts;
    for (int id : ids) {
      if (texts.length(id) > BYTES_MAX) {
        throw new IllegalArgumentException(
            "the special token %d has %,d bytes, at most %d are looked for"
                .formatted(id, texts.length(id), BYTES_MAX));
      }
    }
    this.byRank =
        ids.stream()
            .filter(id -> texts.length(id) > 0)
            .sorted(Comparator.<Integer>comparingInt(texts::length).reversed())
            .mapToInt(Integer::intValue)
            .toArray();
    List<Integer>[] lists = lists();
    for (int rank = 0; rank < byRank.length; rank++) {
      lists[texts.bytes()[texts.start(byRank[rank])] & 0xff].add(rank);
    }
    for (int first = 0; first < 256; first++) {
      byFirst[first] = sorted(lists[first]);
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // Java has no arrays of a generic type
  private static List<Integer>[] lists() {
    List<Integer>[] lists = new List[256];
    Arrays.setAll(lists, _ -> new ArrayList<>());
    return lists;
  }

  private int[] sorted(List<Integer> ranks) {
    return ranks.stream()
        .sorted((a, b) -> compare(byRank[a], byRank[b]))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  private int compare(int a, int b) {
    return Arrays.compareUnsigned(
        texts.bytes(), texts.start(a), texts.end(a), texts.bytes(), texts.start(b), texts.end(b));
  }

  /** Takes what a text is made of, in order. */
  interface Parts {
    /** Text without special tokens, {@code bytes[from, to)}, at least one byte. */
    void text(int from, int to);

    void token(int id);
  }

  /** Cuts a text at its special tokens. */
  void cut(byte[] text, Parts parts) {
    long[] found = longest(text);
    if (found.length > 0) {
      found = accept(found, text);
      Arrays.sort(found);
    }
    int at = 0;
    for (long occurrence : found) {
      int place = (int) (occurrence >>> 32);
      int token = byRank[(int) occurrence];
      if (place > at) {
        parts.text(at, place);
      }
      parts.token(token);
      at = place + texts.length(token);
    }
    if (at < text.length) {
      parts.text(at, text.length);
    }
  }

  /** Of each place the longest token that begins there, as rank and place, in this order. */
  private long[] longest(byte[] text) {
    long[] found = new long[16];
    int count = 0;
    for (int at = 0; at < text.length; at++) {
      int rank = longest(text, at, text.length);
      if (rank >= 0) {
        if (count == found.length) {
          found = Arrays.copyOf(found, 2 * count);
        }
        found[count++] = (long) rank << 32 | at;
      }
    }
    found = Arrays.copyOf(found, count);
    Arrays.sort(found);
    return found;
  }

  /** The rank of the longest token at a place that ends before another, -1 where there is none. */
  private int longest(byte[] text, int at, int end) {
    int[] ranks = byFirst[text[at] & 0xff];
    int longest = -1;
    int low = 0;
    int high = ranks.length;
    // the tokens that the text goes on with are prefixes of one another: each narrows the range
    for (int length = 1; at + length <= end && low < high; length++) {
      int depth = length - 1;
      int wanted = text[at + depth] & 0xff;
      low = first(ranks, low, high, depth, wanted);
      high = first(ranks, low, high, depth, wanted + 1);
      while (low < high && texts.length(byRank[ranks[low]]) == length) {
        longest = ranks[low++];
      }
    }
    return longest;
  }

  /** The first of a sorted range whose byte at that depth is at least {@code value}. */
  private int first(int[] ranks, int from, int to, int depth, int value) {
    int low = from;
    int high = to;
    while (low < high) {
      int middle = (low + high) >>> 1;
      int token = byRank[ranks[middle]];
      int there =
          depth < texts.length(token) ? texts.bytes()[texts.start(token) + depth] & 0xff : -1;
      if (there < value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /**
   * Goes through the candidates in the rule's order and keeps those whose place is free. One whose
   * end is taken makes way for the next shorter token at its place, if any.
   *
   * @return the places and ranks of what was kept
   */
  private long[] accept(long[] candidates, byte[] text) {
    BitSet taken = new BitSet(text.length);
    PriorityQueue<Long> shorter = new PriorityQueue<>();
    long[] kept = new long[16];
    int count = 0;
    int next = 0;
    while (next < candidates.length || !shorter.isEmpty()) {
      Long waiting = shorter.peek();
      long candidate;
      if (waiting != null && (next == candidates.length || waiting < candidates[next])) {
        candidate = waiting;
        shorter.poll();
      } else {
        candidate = candidates[next++];
      }
      int rank = (int) (candidate >>> 32);
      int place = (int) candidate;
      int obstacle = taken.nextSetBit(place);
      if (obstacle == place) {
        continue;
      }
      int end = place + texts.length(byRank[rank]);
      if (obstacle < 0 || obstacle >= end) {
        taken.set(place, end);
        if (count == kept.length) {
          kept = Arrays.copyOf(kept, 2 * count);
        }
        kept[count++] = (long) place << 32 | rank;
      } else {
        int fitting = longest(text, place, obstacle);
        if (fitting >= 0) {
          shorter.add((long) fitting << 32 | place);
        }
      }
    }
    return Arrays.copyOf(kept, count);
  }
}
