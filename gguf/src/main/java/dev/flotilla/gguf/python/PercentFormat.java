package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.List;
import java.util.Map;

/** Python's {@code format % values}. */
public final class PercentFormat {
  private final String format;
  private final Object values;
  private final List<Object> inOrder;
  private final Budget budget;
  private final StringBuilder out = new StringBuilder();
  private int at;
  private int used;

  private PercentFormat(String format, Object values, Budget budget) {
    this.format = format;
    this.values = values;
    this.inOrder = values instanceof Tuple tuple ? tuple.items() : List.of(values);
    this.budget = budget;
  }

  /**
   * {@code format % values}.
   *
   * @param values a {@link Tuple} for several fields, a dict for fields by name, else the only
   *     value
   * @throws Failure where format and values do not fit each other
   */
  public static String format(String format, Object values, Budget budget) {
    PercentFormat run = new PercentFormat(format, values, budget);
    run.all();
    budget.made(run.out.length());
    return run.out.toString();
  }

  private void all() {
    boolean byName = false;
    while (at < format.length()) {
      int next = format.indexOf('%', at);
      if (next < 0) {
        break;
      }
      out.append(format, at, next);
      at = next + 1;
      byName |= character() == '(';
      field();
    }
    out.append(format, Math.min(at, format.length()), format.length());
    if (!byName && used < inOrder.size() && !hasElements(values)) {
      throw Failure.failed("not all arguments converted during string formatting");
    }
  }

  /** What could be asked for elements by name need not be used up. */
  private static boolean hasElements(Object values) {
    return values instanceof Map<?, ?> || values instanceof List<?> || values instanceof Undefined;
  }

  private void field() {
    Object named = null;
    if (character() == '(') {
      int end = format.indexOf(')', at);
      if (end < 0 || !(values instanceof Map<?, ?> map)) {
        throw Failure.failed("format requires a mapping");
      }
      String key = format.substring(at + 1, end);
      named = map.get(key);
      if (named == null) {
        throw Failure.failed("the format's key '%s' is not there", key);
      }
      at = end + 1;
    }
    FormatSpec.Builder spec = new FormatSpec.Builder();
    while ("-+ #0".indexOf(character()) >= 0) {
      spec.percentFlag(format.charAt(at++));
    }
    spec.width(number());
    if (character() == '.') {
      at++;
      spec.precision(Math.max(0, number()));
    }
    char type = character();
    at++;
    if (type == '%') {
      out.append('%');
      return;
    }
    Object value = named == null ? next() : named;
    out.append(spec.percent(type, value, budget));
  }

  private int number() {
    if (character() == '*') {
      at++;
      return Math.clamp(Numbers.index(next(), "*"), 0, FormatSpec.WIDTH_MAX);
    }
    int number = -1;
    while (character() >= '0' && character() <= '9') {
      number = Math.min(FormatSpec.WIDTH_MAX, Math.max(number, 0) * 10 + format.charAt(at++) - '0');
    }
    return number;
  }

  private Object next() {
    if (used >= inOrder.size()) {
      throw Failure.failed("not enough arguments for format string");
    }
    return inOrder.get(used++);
  }

  private char character() {
    return at < format.length() ? format.charAt(at) : '\0';
  }
}
