package dev.flotilla.gguf.tokenizer;

import java.util.Arrays;

/**
 * Symbols of one text that are joined two by two, the best pair first and of equal ones the
 * leftmost: what both kinds of tokenizers do, with another meaning of "best".
 *
 * <p>A heap of keys, a key being a pair's rank (smaller is better) and the place of its left
 * symbol. A key stays in the heap when its pair is gone; {@code current} has each symbol's latest
 * key, so a key that is not there is an old one. Each joining makes two keys at most, so all of it
 * takes {@code n log n}. Arrays grow with the longest text and are used again.
 */
final class MergeQueue {
  private static final long GONE = Long.MIN_VALUE;

  /** By symbol: what the owner knows it by, where it starts, its neighbours, its latest key. */
  int[] value = new int[64];

  int[] start = new int[64];
  private int[] next = new int[64];
  private int[] before = new int[64];
  private long[] current = new long[64];
  private int size;

  private long[] heap = new long[64];
  private int queued;

  void clear() {
    size = 0;
    queued = 0;
  }

  /** Adds a symbol at the end. */
  void add(int symbol, int place) {
    if (size == value.length) {
      int longer = 2 * size;
      value = Arrays.copyOf(value, longer);
      start = Arrays.copyOf(start, longer);
      next = Arrays.copyOf(next, longer);
      before = Arrays.copyOf(before, longer);
      current = Arrays.copyOf(current, longer);
    }
    value[size] = symbol;
    start[size] = place;
    before[size] = size - 1;
    next[size] = -1;
    current[size] = GONE;
    if (size > 0) {
      next[size - 1] = size;
    }
    size++;
  }

  int size() {
    return size;
  }

  /** The symbol behind one, -1 behind the last. */
  int next(int symbol) {
    return next[symbol];
  }

  /** The symbol before one, -1 before the first. */
  int before(int symbol) {
    return before[symbol];
  }

  /** Queues the pair that begins with a symbol. */
  void queue(int left, int rank) {
    long key = (long) rank << 32 | left;
    current[left] = key;
    if (queued == heap.length) {
      heap = Arrays.copyOf(heap, 2 * queued);
    }
    int at = queued++;
    while (at > 0) {
      int parent = (at - 1) >>> 1;
      if (heap[parent] <= key) {
        break;
      }
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = key;
  }

  /** The pair that begins with a symbol is none any more. */
  void forget(int left) {
    current[left] = GONE;
  }

  /** Takes the left symbol of the best pair off, -1 where there is none. */
  int poll() {
    while (queued > 0) {
      long key = heap[0];
      long last = heap[--queued];
      int at = 0;
      while (true) {
        int child = 2 * at + 1;
        if (child >= queued) {
          break;
        }
        if (child + 1 < queued && heap[child + 1] < heap[child]) {
          child++;
        }
        if (heap[child] >= last) {
          break;
        }
        heap[at] = heap[child];
        at = child;
      }
      if (queued > 0) {
        heap[at] = last;
      }
      int left = (int) key;
      if (current[left] == key) {
        current[left] = GONE;
        return left;
      }
    }
    return -1;
  }

  /** Joins a symbol with the one behind it, which is gone then. */
  void join(int left, int joined) {
    int right = next[left];
    value[left] = joined;
    current[right] = GONE;
    next[left] = next[right];
    if (next[right] >= 0) {
      before[next[right]] = left;
    }
  }

  /** Gives the memory of an unusually long text back. */
  void trim(int mostSymbols) {
    if (value.length > mostSymbols) {
      value = new int[64];
      start = new int[64];
      next = new int[64];
      before = new int[64];
      current = new long[64];
      heap = new long[64];
    }
  }
}
