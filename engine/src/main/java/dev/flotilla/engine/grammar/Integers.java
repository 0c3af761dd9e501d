package dev.flotilla.engine.grammar;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whole numbers between two bounds, as their digits. */
final class Integers {
  private static final Expr DIGIT = Expr.chars('0', '9');
  private static final long MOST = 9_999_999_999_999_999L;

  private Integers() {}

  /**
   * The numbers from {@code min} to {@code max}; null is no bound, which is sixteen digits here.
   */
  static Expr between(@Nullable Long min, @Nullable Long max) {
    long low = min == null ? -MOST : min;
    long high = max == null ? MOST : max;
    if (low > high) {
      throw new GrammarRefused("the minimum " + low + " is more than the maximum " + high);
    }
    List<Expr> options = new ArrayList<>();
    if (low < 0) {
      long from = high < 0 ? -high : 1;
      options.add(Expr.sequence(Expr.text("-"), positive(from, -low)));
    }
    if (high >= 0) {
      options.add(positive(Math.max(0, low), high));
    }
    return new Expr.Choice(options);
  }

  /** Numbers that are not negative, by their length. */
  private static Expr positive(long low, long high) {
    List<Expr> options = new ArrayList<>();
    long start = low;
    while (start <= high) {
      int length = Long.toString(start).length();
      long end = Math.min(high, (long) Math.pow(10, length) - 1);
      options.add(sameLength(Long.toString(start), Long.toString(end)));
      start = end + 1;
    }
    return new Expr.Choice(options);
  }

  private static Expr sameLength(String low, String high) {
    if (low.isEmpty()) {
      return Expr.EMPTY;
    }
    char first = low.charAt(0);
    char last = high.charAt(0);
    String lowRest = low.substring(1);
    String highRest = high.substring(1);
    int rest = lowRest.length();
    if (first == last) {
      return Expr.sequence(Expr.chars(first, first), sameLength(lowRest, highRest));
    }
    List<Expr> options = new ArrayList<>();
    options.add(Expr.sequence(Expr.chars(first, first), sameLength(lowRest, "9".repeat(rest))));
    if (last - first > 1) {
      options.add(
          Expr.sequence(Expr.chars(first + 1, last - 1), new Expr.Repeat(DIGIT, rest, rest)));
    }
    options.add(Expr.sequence(Expr.chars(last, last), sameLength("0".repeat(rest), highRest)));
    return new Expr.Choice(options);
  }
}
