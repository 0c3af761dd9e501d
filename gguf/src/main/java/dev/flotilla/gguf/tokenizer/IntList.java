package dev.flotilla.gguf.tokenizer;

import java.util.Arrays;

/** Tokens as they come. */
final class IntList {
  private int[] values = new int[64];
  private int size;

  void add(int value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, 2 * size);
    }
    values[size++] = value;
  }

  void addAll(int[] more) {
    for (int value : more) {
      add(value);
    }
  }

  int[] toArray() {
    return Arrays.copyOf(values, size);
  }
}
