package dev.flotilla.gguf;

import java.util.Arrays;

/**
 * Many short byte strings in one array: a vocabulary has hundreds of thousands of them, which as
 * objects would take several times their text.
 */
public final class StringTable {
  private byte[] bytes = new byte[1024];
  private int[] ends = new int[64];
  private int size;

  /** An empty table. */
  public StringTable() {}

  /** Adds a string at the end. */
  public void add(byte[] string, int from, int to) {
    int start = end(size - 1);
    int length = to - from;
    int end = Math.addExact(start, length);
    if (end > bytes.length) {
      bytes =
          Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 8, Math.max(end, 2L * start)));
    }
    System.arraycopy(string, from, bytes, start, length);
    if (size == ends.length) {
      ends = Arrays.copyOf(ends, 2 * size);
    }
    ends[size++] = end;
  }

  public int size() {
    return size;
  }

  /** Where a string begins in {@link #bytes}. */
  public int start(int index) {
    return end(index - 1);
  }

  /** Where a string ends in {@link #bytes}, exclusive. */
  public int end(int index) {
    return index < 0 ? 0 : ends[index];
  }

  public int length(int index) {
    return end(index) - start(index);
  }

  /** The strings one behind the other; not to be changed, and longer than they are. */
  public byte[] bytes() {
    return bytes;
  }

  /** A copy of one string. */
  public byte[] get(int index) {
    return Arrays.copyOfRange(bytes, start(index), end(index));
  }

  /** Whether a string equals a range of another array. */
  public boolean equals(int index, byte[] other, int from, int to) {
    return Arrays.equals(bytes, start(index), end(index), other, from, to);
  }
}
