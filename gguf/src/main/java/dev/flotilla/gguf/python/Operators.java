package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.List;

/** Operators between two values. */
public final class Operators {
  private Operators() {}

  /**
   * {@code a OPERATOR b}, for one that makes a value.
   *
   * @throws Failure where Python has no such operator for the two
   */
  public static Object apply(String operator, Object a, Object b, Budget budget) {
    if (Kinds.isNumber(a) && Kinds.isNumber(b)) {
      return Numbers.arithmetic(operator, a, b);
    }
    if (a instanceof Undefined missing) {
      throw missing.failure();
    }
    switch (operator) {
      case "+" -> {
        if ((a instanceof Markup && isText(b)) || (b instanceof Markup && isText(a))) {
          return Markup.sum(a, b, budget);
        }
        if (a instanceof String left && b instanceof String right) {
          budget.made(left.length() + (long) right.length());
          return left + right;
        }
        if (a instanceof List<?> left && b instanceof List<?> right) {
          return sum(left, right, budget);
        }
        if (a instanceof Tuple left && b instanceof Tuple right) {
          return new Tuple(sum(left.items(), right.items(), budget));
        }
      }
      case "*" -> {
        if (Numbers.isWhole(b)) {
          return repeated(a, b, budget);
        }
        if (Numbers.isWhole(a)) {
          return repeated(b, a, budget);
        }
      }
      case "%" -> {
        if (Markup.plain(a) instanceof String format) {
          return PercentFormat.format(format, b, budget);
        }
      }
      default -> {}
    }
    if (b instanceof Undefined missing) {
      throw missing.failure();
    }
    throw Failure.failed(
        "unsupported operand type(s) for %s: '%s' and '%s'",
        operator, Kinds.name(a), Kinds.name(b));
  }

  private static boolean isText(Object value) {
    return value instanceof String || value instanceof Markup;
  }

  private static List<Object> sum(List<?> a, List<?> b, Budget budget) {
    budget.madeElements(a.size() + (long) b.size());
    List<Object> sum = new ArrayList<>(a.size() + b.size());
    sum.addAll(a);
    sum.addAll(b);
    return sum;
  }

  private static Object repeated(Object value, Object times, Budget budget) {
    long count = Math.max(0, Numbers.index(times, "*"));
    return switch (value) {
      case String text -> {
        budget.made(product(text.length(), count));
        yield text.repeat(text.isEmpty() ? 0 : (int) count);
      }
      case Markup markup -> new Markup((String) repeated(markup.text(), times, budget));
      case List<?> list -> repeated(list, count, budget);
      case Tuple tuple -> new Tuple(repeated(tuple.items(), count, budget));
      case Undefined missing -> throw missing.failure();
      default ->
          throw Failure.failed(
              "unsupported operand type(s) for *: '%s' and 'int'", Kinds.name(value));
    };
  }

  private static List<Object> repeated(List<?> items, long count, Budget budget) {
    budget.madeElements(product(items.size(), count));
    List<Object> all = new ArrayList<>();
    for (long i = items.isEmpty() ? count : 0; i < count; i++) {
      all.addAll(items);
    }
    return all;
  }

  /** Large products need not be exact, they are refused. */
  private static long product(int length, long count) {
    return length == 0 ? 0 : Math.min(count, Integer.MAX_VALUE) * length;
  }

  /** Whether a comparison holds. */
  public static boolean holds(String operator, Object a, Object b, Budget budget) {
    return switch (operator) {
      case "==" -> Order.equal(a, b, budget);
      case "!=" -> !Order.equal(a, b, budget);
      case "in" -> Kinds.contains(b, a, budget);
      case "not in" -> !Kinds.contains(b, a, budget);
      case "<" -> Order.compare(a, b, "<", budget) < 0;
      case "<=" -> {
        int order = Order.compare(a, b, "<=", budget);
        yield order <= 0;
      }
      case ">" -> Order.compare(a, b, ">", budget) == 1;
      case ">=" -> {
        int order = Order.compare(a, b, ">=", budget);
        yield order == 0 || order == 1;
      }
      default -> throw new IllegalStateException(operator);
    };
  }
}
