package dev.flotilla.engine.grammar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What a rule of a grammar is made of. */
sealed interface Expr {
  /** These bytes. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Text(byte[] bytes) implements Expr {}

  /** One character of these ranges: pairs of code points, first and last. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Chars(int[] ranges) implements Expr {}

  /**
   * One whole token, whatever its text: this one, or where it stands for the {@code others} any but
   * this and those that end an answer.
   */
  record Token(int token, boolean others) implements Expr {}

  /** One after the other. */
  record Sequence(List<Expr> parts) implements Expr {}

  /** One of them. */
  record Choice(List<Expr> options) implements Expr {}

  /** So often; {@code max} of -1 is without end. */
  record Repeat(Expr part, int min, int max) implements Expr {}

  /** What another rule says. */
  record Rule(String name) implements Expr {}

  /** Nothing. */
  Expr EMPTY = new Sequence(List.of());

  static Expr text(String text) {
    return new Text(text.getBytes(StandardCharsets.UTF_8));
  }

  static Expr sequence(Expr... parts) {
    return new Sequence(List.of(parts));
  }

  static Expr choice(Expr... options) {
    return new Choice(List.of(options));
  }

  static Expr optional(Expr part) {
    return new Repeat(part, 0, 1);
  }

  static Expr chars(int... ranges) {
    return new Chars(ranges);
  }

  /** One character of none of these ranges. */
  static Expr others(int... ranges) {
    return new Chars(complement(ranges));
  }

  /** The ranges of all characters that are in none of these. */
  static int[] complement(int... ranges) {
    List<int[]> sorted = new ArrayList<>();
    for (int i = 0; i < ranges.length; i += 2) {
      sorted.add(new int[] {ranges[i], ranges[i + 1]});
    }
    sorted.sort((a, b) -> Integer.compare(a[0], b[0]));
    List<Integer> rest = new ArrayList<>();
    int from = 0;
    for (int[] range : sorted) {
      if (range[0] > from) {
        rest.add(from);
        rest.add(range[0] - 1);
      }
      from = Math.max(from, range[1] + 1);
    }
    if (from <= Character.MAX_CODE_POINT) {
      rest.add(from);
      rest.add(Character.MAX_CODE_POINT);
    }
    return rest.stream().mapToInt(Integer::intValue).toArray();
  }
}
