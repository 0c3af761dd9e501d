package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Attributes;
import dev.flotilla.gguf.python.Callable;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Markup;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.TextMethods;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** All filters by name, and those of single values. */
final class Filters {
  /** Filters that look at the mark of a marked text, or return the text as it came. */
  private static final Set<String> KEEP_THE_MARK = Set.of("default", "d", "escape", "e");

  private static final Map<String, Filter> ALL = all();

  private Filters() {}

  static Object apply(Budget budget, String name, Object value, Arguments arguments) {
    Filter filter = ALL.get(name);
    if (filter == null) {
      throw Failure.failed("no filter named '%s'", name);
    }
    return value instanceof Markup markup
        ? TextFilters.ALL.containsKey(name) // what a text is changed into keeps its mark
            ? Markup.marked(filter.apply(budget, markup.text(), arguments))
            : filter.apply(budget, KEEP_THE_MARK.contains(name) ? value : markup.text(), arguments)
        : filter.apply(budget, value, arguments);
  }

  private static Map<String, Filter> all() {
    Map<String, Filter> all = new HashMap<>();
    all.put("tojson", Json::filter);
    all.put("default", Filters::orDefault);
    all.put("d", Filters::orDefault);
    all.put("abs", Filters::absolute);
    all.put("int", Filters::toInt);
    all.put("float", Filters::toFloat);
    all.put("round", Filters::round);
    all.put("attr", Filters::attribute);
    all.put("escape", (budget, value, arguments) -> new Markup(Markup.escaped(value, budget)));
    all.put("e", (budget, value, arguments) -> new Markup(Markup.escaped(value, budget)));
    all.put(
        "forceescape",
        (budget, value, arguments) ->
            new Markup(Markup.escaped(Written.text(value, budget), budget)));
    all.putAll(TextFilters.ALL);
    all.putAll(SequenceFilters.ALL);
    return Map.copyOf(all);
  }

  private static Object orDefault(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound = arguments.bind("default", "default_value", "boolean");
    boolean absent = value instanceof Undefined || (bound.truth(1, false) && !Kinds.truth(value));
    return absent ? bound.or(0, "") : value;
  }

  private static Object attribute(Budget budget, Object value, Arguments arguments) {
    String name = arguments.bind("attr", "name").text(0);
    Object found = Attributes.get(value, name);
    // a dict's own entries are no attributes
    return value instanceof Map<?, ?> map && map.containsKey(name) && !(found instanceof Callable)
        ? Undefined.in(value, "'" + name + "'")
        : found;
  }

  private static Object absolute(Budget budget, Object value, Arguments arguments) {
    if (value instanceof Double number) {
      return Math.abs(number);
    }
    if (Numbers.isWhole(value)) {
      return Numbers.narrow(Numbers.big(value).abs());
    }
    throw value instanceof Undefined missing
        ? missing.failure()
        : Failure.failed("bad operand type for abs(): '%s'", Kinds.name(value));
  }

  private static Object toInt(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound = arguments.bind("int", "default", "base");
    Object otherwise = bound.or(0, 0L);
    if (Numbers.isWhole(value)) {
      return Numbers.narrow(Numbers.big(value));
    }
    if (value instanceof Double number) {
      return Double.isNaN(number) || Double.isInfinite(number)
          ? otherwise
          : Numbers.narrow(new BigDecimal(number).toBigInteger());
    }
    if (value instanceof Undefined missing) {
      throw missing.failure();
    }
    if (!(value instanceof String text)) {
      return otherwise;
    }
    budget.scan(text.length());
    int base = Math.clamp(bound.whole(1, 10), 2, 36);
    String digits = TextMethods.stripped(text, None.NONE, true, true).replace("_", "");
    if (digits.length() > 1000) {
      return otherwise;
    }
    try {
      return Numbers.narrow(new BigInteger(withoutPrefix(digits, base), base));
    } catch (NumberFormatException e) {
      try {
        return Numbers.narrow(new BigDecimal(Double.parseDouble(digits)).toBigInteger());
      } catch (NumberFormatException none) {
        return otherwise;
      }
    }
  }

  private static String withoutPrefix(String digits, int base) {
    String prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
    return !prefix.isEmpty() && digits.regionMatches(true, 0, prefix, 0, 2)
        ? digits.substring(2)
        : digits;
  }

  private static Object toFloat(Budget budget, Object value, Arguments arguments) {
    Object otherwise = arguments.bind("float", "default").or(0, 0.0);
    if (Kinds.isNumber(value)) {
      return Numbers.real(value);
    }
    if (value instanceof Undefined missing) {
      throw missing.failure();
    }
    if (value instanceof String text && text.length() < 1000) {
      try {
        return Double.valueOf(TextMethods.stripped(text, None.NONE, true, true));
      } catch (NumberFormatException e) {
        return otherwise;
      }
    }
    return otherwise;
  }

  private static Object round(Budget budget, Object value, Arguments arguments) {
    Arguments.Bound bound = arguments.bind("round", "precision", "method");
    if (!Kinds.isNumber(value)) {
      throw value instanceof Undefined missing
          ? missing.failure()
          : Failure.failed("type %s can't be rounded", Kinds.name(value));
    }
    double number = Numbers.real(value);
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      return number;
    }
    int digits = Math.clamp(bound.whole(0, 0), -300, 300);
    String method = bound.text(1, "common");
    RoundingMode mode =
        switch (method) {
          case "common" -> RoundingMode.HALF_EVEN;
          case "ceil" -> RoundingMode.CEILING;
          case "floor" -> RoundingMode.FLOOR;
          default -> throw Failure.failed("method must be common, ceil or floor");
        };
    if (Numbers.isWhole(value) && method.equals("common")) {
      return digits >= 0
          ? Numbers.narrow(Numbers.big(value))
          : Numbers.narrow(
              new BigDecimal(Numbers.big(value)).setScale(digits, mode).toBigInteger());
    }
    return new BigDecimal(number).setScale(digits, mode).doubleValue();
  }
}
