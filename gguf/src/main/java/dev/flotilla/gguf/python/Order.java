package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Python's equality and order of values. */
public final class Order {
  /** What a comparison with "not a number" comes to: unequal, neither smaller nor larger. */
  private static final int UNORDERED = 2;

  private Order() {}

  /** Whether {@code a == b}. */
  public static boolean equal(Object a, Object b, Budget budget) {
    return equal(a, b, budget, 0);
  }

  private static boolean equal(Object first, Object second, Budget budget, int level) {
    Object a = Markup.plain(first);
    Object b = Markup.plain(second);
    budget.step();
    if (Kinds.isNumber(a) && Kinds.isNumber(b)) {
      return compareNumbers(a, b) == 0;
    }
    return switch (a) {
      case String text -> {
        budget.scan(text.length());
        yield text.equals(b);
      }
      case List<?> list -> b instanceof List<?> other && equalLists(list, other, budget, level);
      case Tuple tuple ->
          b instanceof Tuple other && equalLists(tuple.items(), other.items(), budget, level);
      case Map<?, ?> map -> b instanceof Map<?, ?> other && equalMaps(map, other, budget, level);
      case Undefined _ -> b instanceof Undefined;
      case None _ -> b instanceof None;
      default -> same(a, b);
    };
  }

  /** Whether two values are one and the same object; small numbers and texts are by their value. */
  @SuppressWarnings("ReferenceEquality") // identity is what is asked for
  public static boolean same(Object a, Object b) {
    return a == b
        || (a instanceof Long && a.equals(b))
        || (a instanceof Boolean && a.equals(b))
        || (a instanceof String && a.equals(b));
  }

  private static boolean equalLists(List<?> a, List<?> b, Budget budget, int level) {
    if (a.size() != b.size()) {
      return false;
    }
    int deeper = Budget.deeper(level);
    Iterator<?> others = b.iterator();
    for (Object each : a) {
      if (!equal(each, others.next(), budget, deeper)) {
        return false;
      }
    }
    return true;
  }

  private static boolean equalMaps(Map<?, ?> a, Map<?, ?> b, Budget budget, int level) {
    if (a.size() != b.size()) {
      return false;
    }
    int deeper = Budget.deeper(level);
    for (Map.Entry<?, ?> entry : a.entrySet()) {
      Object other = b.get(entry.getKey());
      if (other == null || !equal(entry.getValue(), other, budget, deeper)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Which of two values is the smaller, as a comparator says it; 0 also where neither is (NaN).
   *
   * @param operator as the failure names it
   */
  static int compare(Object a, Object b, String operator, Budget budget) {
    return compare(a, b, operator, budget, 0);
  }

  private static int compare(
      Object first, Object second, String operator, Budget budget, int level) {
    Object a = Markup.plain(first);
    Object b = Markup.plain(second);
    budget.step();
    if (Kinds.isNumber(a) && Kinds.isNumber(b)) {
      return compareNumbers(a, b);
    }
    if (a instanceof String left && b instanceof String right) {
      budget.scan(Math.min(left.length(), right.length()));
      return compareTexts(left, right);
    }
    if (a instanceof List<?> left && b instanceof List<?> right) {
      return compareLists(left, right, operator, budget, level);
    }
    if (a instanceof Tuple left && b instanceof Tuple right) {
      return compareLists(left.items(), right.items(), operator, budget, level);
    }
    if (a instanceof Undefined missing) {
      throw missing.failure();
    }
    if (b instanceof Undefined missing) {
      throw missing.failure();
    }
    throw Failure.failed(
        "'%s' not supported between instances of '%s' and '%s'",
        operator, Kinds.name(a), Kinds.name(b));
  }

  private static int compareLists(List<?> a, List<?> b, String operator, Budget budget, int level) {
    int deeper = Budget.deeper(level);
    int common = Math.min(a.size(), b.size());
    for (int i = 0; i < common; i++) {
      if (!equal(a.get(i), b.get(i), budget, deeper)) {
        return compare(a.get(i), b.get(i), operator, budget, deeper);
      }
    }
    return Integer.compare(a.size(), b.size());
  }

  /** By code points: Java's own order puts characters beyond U+FFFF too early. */
  static int compareTexts(String a, String b) {
    int common = Math.min(a.length(), b.length());
    for (int i = 0; i < common; i++) {
      char left = a.charAt(i);
      char right = b.charAt(i);
      if (left != right) {
        boolean leftWide = Character.isSurrogate(left);
        boolean rightWide = Character.isSurrogate(right);
        return leftWide == rightWide ? Integer.compare(left, right) : leftWide ? 1 : -1;
      }
    }
    return Integer.compare(a.length(), b.length());
  }

  private static int compareNumbers(Object a, Object b) {
    Object left = a instanceof Boolean truth ? (truth ? 1L : 0L) : a;
    Object right = b instanceof Boolean truth ? (truth ? 1L : 0L) : b;
    if (left instanceof Long x && right instanceof Long y) {
      return Long.compare(x, y);
    }
    double x = ((Number) left).doubleValue();
    double y = ((Number) right).doubleValue();
    if (Double.isNaN(x) || Double.isNaN(y)) {
      return UNORDERED;
    }
    if (Double.isInfinite(x) || Double.isInfinite(y)) {
      return x == y && left instanceof Double && right instanceof Double ? 0 : x < y ? -1 : 1;
    }
    return exact(left).compareTo(exact(right));
  }

  private static BigDecimal exact(Object number) {
    return switch (number) {
      case Long whole -> BigDecimal.valueOf(whole);
      case BigInteger whole -> new BigDecimal(whole);
      default -> new BigDecimal(((Number) number).doubleValue());
    };
  }

  /** The order of {@code sort}, which fails for what can't be compared. */
  public static Comparator<Object> comparator(Budget budget) {
    return (a, b) -> {
      int order = compare(a, b, "<", budget);
      return order == UNORDERED ? Boolean.compare(isNaN(a), isNaN(b)) : order;
    };
  }

  private static boolean isNaN(Object value) {
    return value instanceof Double number && number.isNaN();
  }

  /** A sorted copy; equal elements keep their order. */
  public static List<Object> sorted(List<Object> items, Comparator<Object> order, Budget budget) {
    budget.madeElements(items.size());
    List<Object> sorted = new ArrayList<>(items);
    try {
      sorted.sort(order);
    } catch (IllegalArgumentException e) {
      throw Failure.failed("the elements have no order"); // "not a number" within lists
    }
    return sorted;
  }
}
