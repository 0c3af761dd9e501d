package dev.flotilla.engine.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Ranges of characters as ranges of their bytes in UTF-8. Surrogates are no characters. */
final class Utf8Ranges {
  private static final int[] LENGTH_ENDS = {0x7F, 0x7FF, 0xFFFF, 0x10FFFF};

  private Utf8Ranges() {}

  /** Each entry is one way: for each byte its lowest and highest value. */
  static List<int[]> of(int first, int last) {
    List<int[]> ways = new ArrayList<>();
    if (first <= 0xDFFF && last >= 0xD800) {
      split(first, 0xD7FF, ways);
      split(0xE000, last, ways);
    } else {
      split(first, last, ways);
    }
    return ways;
  }

  private static void split(int first, int last, List<int[]> ways) {
    if (first > last) {
      return;
    }
    for (int end : LENGTH_ENDS) {
      if (first <= end && last > end) {
        split(first, end, ways);
        split(end + 1, last, ways);
        return;
      }
    }
    for (int bits = 6; bits <= 18 && last > 0x7F; bits += 6) {
      int mask = (1 << bits) - 1;
      if ((first & ~mask) != (last & ~mask)) {
        if ((first & mask) != 0) {
          split(first, first | mask, ways);
          split((first | mask) + 1, last, ways);
          return;
        }
        if ((last & mask) != mask) {
          split(first, (last & ~mask) - 1, ways);
          split(last & ~mask, last, ways);
          return;
        }
      }
    }
    byte[] low = Character.toString(first).getBytes(StandardCharsets.UTF_8);
    byte[] high = Character.toString(last).getBytes(StandardCharsets.UTF_8);
    int[] way = new int[2 * low.length];
    for (int i = 0; i < low.length; i++) {
      way[2 * i] = low[i] & 0xff;
      way[2 * i + 1] = high[i] & 0xff;
    }
    ways.add(way);
  }
}
