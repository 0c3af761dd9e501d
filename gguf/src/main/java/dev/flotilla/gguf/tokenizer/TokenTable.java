package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.StringTable;

/** Strings of bytes by their text: a hash table of their numbers, with open addressing. */
final class TokenTable {
  static final int NONE = -1;

  private final StringTable strings;
  private int[] slots;
  private int count;
  private int longest;

  /** A table of strings; the first of equal ones counts. */
  TokenTable(StringTable strings) {
    this.strings = strings;
    this.slots = slots(strings.size());
    for (int i = 0; i < strings.size(); i++) {
      enter(i);
    }
  }

  /** Length in bytes of the longest string. */
  int longest() {
    return longest;
  }

  StringTable strings() {
    return strings;
  }

  /** The number of a string, {@link #NONE} where it is not in the table. */
  int find(byte[] text, int from, int to) {
    if (to - from > longest) {
      return NONE;
    }
    for (int slot = hash(text, from, to) & slots.length - 1; ; slot = slot + 1 & slots.length - 1) {
      int entry = slots[slot] - 1;
      if (entry < 0) {
        return NONE;
      }
      if (strings.equals(entry, text, from, to)) {
        return entry;
      }
    }
  }

  int find(byte[] text) {
    return find(text, 0, text.length);
  }

  /** The number of a string, which is added if it is new. */
  int findOrAdd(byte[] text, int from, int to) {
    int found = find(text, from, to);
    if (found != NONE) {
      return found;
    }
    strings.add(text, from, to);
    if (2 * (count + 1) > slots.length) {
      slots = slots(2 * count);
      count = 0;
      for (int i = 0; i < strings.size(); i++) {
        enter(i);
      }
    } else {
      enter(strings.size() - 1);
    }
    return strings.size() - 1;
  }

  private static int[] slots(int strings) {
    return new int[Integer.highestOneBit(Math.max(16, strings)) * 4];
  }

  private void enter(int index) {
    int from = strings.start(index);
    int to = strings.end(index);
    longest = Math.max(longest, to - from);
    int slot = hash(strings.bytes(), from, to) & slots.length - 1;
    while (slots[slot] != 0) {
      if (strings.equals(slots[slot] - 1, strings.bytes(), from, to)) {
        return;
      }
      slot = slot + 1 & slots.length - 1;
    }
    slots[slot] = index + 1;
    count++;
  }

  private static int hash(byte[] text, int from, int to) {
    int hash = 0x811c9dc5;
    for (int i = from; i < to; i++) {
      hash = (hash ^ text[i]) * 0x01000193;
    }
    hash ^= hash >>> 15;
    hash *= 0x2c1b3c6d;
    return hash ^ hash >>> 13;
  }
}
