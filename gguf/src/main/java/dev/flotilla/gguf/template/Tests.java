package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Callable;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Markup;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.Operators;
import dev.flotilla.gguf.python.Order;
import dev.flotilla.gguf.python.Tuple;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** What stands behind {@code is}. */
final class Tests {
  private static final Set<String> COMPARING =
      Set.of(
          "divisibleby",
          "sameas",
          "in",
          "eq",
          "equalto",
          "==",
          "ne",
          "!=",
          "lt",
          "lessthan",
          "<",
          "le",
          "<=",
          "gt",
          "greaterthan",
          ">",
          "ge",
          ">=");

  private Tests() {}

  static boolean check(Budget budget, String name, Object value, Arguments arguments) {
    if (!COMPARING.contains(name)) {
      arguments.bind(name);
    }
    return switch (name) {
      case "defined" -> !(value instanceof Undefined);
      case "undefined" -> value instanceof Undefined;
      case "none" -> value instanceof None;
      case "boolean" -> value instanceof Boolean;
      case "true" -> value instanceof Boolean truth && truth;
      case "false" -> value instanceof Boolean truth && !truth;
      case "string" -> value instanceof String || value instanceof Markup;
      case "number" -> Kinds.isNumber(value);
      case "integer" -> Numbers.isWhole(value) && !(value instanceof Boolean);
      case "float" -> value instanceof Double;
      case "mapping" -> value instanceof Map<?, ?>;
      case "iterable" -> Kinds.isIterable(value);
      case "sequence" ->
          value instanceof String
              || value instanceof Markup
              || value instanceof List<?>
              || value instanceof Tuple
              || value instanceof Map<?, ?>
              || value instanceof Undefined;
      case "callable" -> value instanceof Callable || value instanceof Undefined;
      case "odd" -> remainder(value, 2L) == 1;
      case "even" -> remainder(value, 2L) == 0;
      case "divisibleby" -> remainder(value, operand(name, arguments)) == 0;
      case "lower" ->
          text(value, budget).equals(text(value, budget).toLowerCase(Locale.ROOT))
              && hasCase(text(value, budget));
      case "upper" ->
          text(value, budget).equals(text(value, budget).toUpperCase(Locale.ROOT))
              && hasCase(text(value, budget));
      case "escaped" -> value instanceof Markup;
      case "sameas" -> Order.same(value, operand(name, arguments));
      case "in" -> Operators.holds("in", value, operand(name, arguments), budget);
      case "filter", "test" ->
          throw Failure.failed("whether a %s is known can't be asked here", name);
      default -> Operators.holds(operator(name), value, operand(name, arguments), budget);
    };
  }

  private static String operator(String name) {
    return switch (name) {
      case "eq", "equalto", "==" -> "==";
      case "ne", "!=" -> "!=";
      case "lt", "lessthan", "<" -> "<";
      case "le", "<=" -> "<=";
      case "gt", "greaterthan", ">" -> ">";
      case "ge", ">=" -> ">=";
      default -> throw Failure.failed("no test named '%s'", name);
    };
  }

  private static Object operand(String name, Arguments arguments) {
    return arguments.bind(name, "other").required(0);
  }

  private static long remainder(Object value, Object divisor) {
    if (Kinds.isNumber(value) && Kinds.isNumber(divisor)) {
      Object rest = Numbers.arithmetic("%", value, divisor);
      return rest instanceof Long whole ? whole : rest.equals(0.0) ? 0 : rest.equals(1.0) ? 1 : -1;
    }
    throw value instanceof Undefined missing
        ? missing.failure()
        : Failure.failed("a number is needed, not %s", Kinds.name(value));
  }

  private static String text(Object value, Budget budget) {
    return Written.text(value, budget);
  }

  private static boolean hasCase(String text) {
    return text.codePoints()
        .anyMatch(point -> Character.isUpperCase(point) || Character.isLowerCase(point));
  }
}
