package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Markup;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.Order;
import dev.flotilla.gguf.python.Tuple;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The filter {@code tojson} as chat templates know it: Python's {@code json.dumps}, whose output a
 * model has seen in training down to the blanks.
 *
 * @param indent what one level is indented by; null for all on one line
 */
record Json(
    boolean ensureAscii,
    @Nullable String indent,
    String itemSeparator,
    String keySeparator,
    boolean sortKeys) {

  static Object filter(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound =
        arguments.bind("tojson", "ensure_ascii", "indent", "separators", "sort_keys");
    Object indent = bound.or(1, None.NONE);
    String step =
        switch (indent) {
          case None _ -> null;
          case String text -> text;
          default -> " ".repeat(Math.clamp(Numbers.index(indent, "tojson"), 0, 100));
        };
    String item = step == null ? ", " : ",";
    String key = ": ";
    if (!(bound.or(2, None.NONE) instanceof None)) {
      List<Object> separators = Kinds.elements(bound.required(2), budget);
      if (separators.size() != 2
          || !(separators.get(0) instanceof String first)
          || !(separators.get(1) instanceof String second)) {
        throw Failure.failed("tojson needs two texts as separators");
      }
      item = first;
      key = second;
    }
    Json json = new Json(bound.truth(0, false), step, item, key, bound.truth(3, false));
    return json.write(value, budget);
  }

  private String write(Object value, Budget budget) {
    StringBuilder out = new StringBuilder();
    value(value, out, budget, 0);
    return out.toString();
  }

  private void value(Object value, StringBuilder out, Budget budget, int level) {
    budget.made(4); // long texts and indents count for themselves
    switch (value) {
      case String text -> quoted(text, out, budget);
      case Markup markup -> quoted(markup.text(), out, budget);
      case Boolean truth -> out.append(truth);
      case None _ -> out.append("null");
      case Long number -> out.append(number);
      case BigInteger number -> out.append(number);
      case Double number -> out.append(number(number));
      case List<?> list -> list(list, out, budget, level);
      case Tuple tuple -> list(tuple.items(), out, budget, level);
      case Map<?, ?> map -> map(map, out, budget, level);
      default ->
          throw Failure.failed("object of type %s is not JSON serializable", Kinds.name(value));
    }
  }

  private void list(List<?> items, StringBuilder out, Budget budget, int level) {
    int deeper = Budget.deeper(level);
    if (items.isEmpty()) {
      out.append("[]");
      return;
    }
    out.append('[');
    boolean first = true;
    for (Object item : items) {
      if (!first) {
        out.append(itemSeparator);
      }
      first = false;
      newLine(out, budget, deeper);
      value(item, out, budget, deeper);
    }
    newLine(out, budget, level);
    out.append(']');
  }

  private void map(Map<?, ?> map, StringBuilder out, Budget budget, int level) {
    int deeper = Budget.deeper(level);
    if (map.isEmpty()) {
      out.append("{}");
      return;
    }
    List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
    if (sortKeys) {
      entries.sort((a, b) -> Order.comparator(budget).compare(a.getKey(), b.getKey()));
    }
    out.append('{');
    boolean first = true;
    for (Map.Entry<?, ?> entry : entries) {
      if (!first) {
        out.append(itemSeparator);
      }
      first = false;
      newLine(out, budget, deeper);
      quoted(key(entry.getKey()), out, budget);
      out.append(keySeparator);
      value(entry.getValue(), out, budget, deeper);
    }
    newLine(out, budget, level);
    out.append('}');
  }

  private void newLine(StringBuilder out, Budget budget, int level) {
    if (indent != null) {
      budget.made((long) indent.length() * level);
      out.append('\n').repeat(indent, level);
    }
  }

  private static String key(Object key) {
    return switch (key) {
      case String text -> text;
      case Boolean truth -> truth.toString();
      case None _ -> "null";
      case Double number -> number(number);
      case Long number -> number.toString();
      case BigInteger number -> number.toString();
      default ->
          throw Failure.failed(
              "keys must be str, int, float, bool or None, not %s", Kinds.name(key));
    };
  }

  private static String number(double number) {
    if (Double.isNaN(number)) {
      return "NaN";
    }
    if (Double.isInfinite(number)) {
      return number < 0 ? "-Infinity" : "Infinity";
    }
    return Numbers.written(number);
  }

  private void quoted(String text, StringBuilder out, Budget budget) {
    budget.made(text.length());
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        case '\f' -> out.append("\\f");
        case '\b' -> out.append("\\b");
        default -> {
          if (c < 0x20 || (ensureAscii && c > 0x7e)) {
            out.append("\\u%04x".formatted((int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
