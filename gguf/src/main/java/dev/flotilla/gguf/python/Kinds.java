package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kinds of values that a template works with, and what Python's language says of each.
 *
 * <p>A value is a {@link String}, {@link Markup}, {@link Long}, {@link BigInteger} (beyond 64 bits
 * only), {@link Double}, {@link Boolean}, {@link None}, {@link List}, {@link Tuple}, {@link Map},
 * {@link View}, {@link Lazy}, {@link Undefined}, {@link Namespace}, {@link Loop} or {@link
 * Callable}; never null. Lists and maps are never changed, as in the sandbox that templates are
 * written for, so no value but a namespace can hold itself.
 */
public final class Kinds {
  private Kinds() {}

  /** A value from outside: what a JSON reader makes. */
  public static Object given(@Nullable Object value, Budget budget, int level) {
    budget.step();
    return switch (value) {
      case null -> None.NONE;
      case String text -> {
        budget.given(text.length());
        yield text;
      }
      case Boolean truth -> truth;
      case Long number -> number;
      case Integer number -> (long) number;
      case Short number -> (long) number;
      case Byte number -> (long) number;
      case BigInteger number -> Numbers.narrow(number);
      case Double number -> number;
      case Float number -> (double) number;
      case BigDecimal number -> number.doubleValue();
      case Map<?, ?> map -> {
        budget.given(0);
        Map<Object, Object> copy = LinkedHashMap.newLinkedHashMap(map.size());
        map.forEach((key, each) -> {
          String name = String.valueOf(key);
          budget.given(name.length());
          copy.put(name, given(each, budget, Budget.deeper(level)));
        });
        yield copy;
      }
      case Collection<?> list -> {
        List<Object> copy = new ArrayList<>(list.size());
        list.forEach(each -> copy.add(given(each, budget, Budget.deeper(level))));
        yield copy;
      }
      default -> throw new IllegalArgumentException("no value for a template: " + value.getClass());
    };
  }

  /** Python's name of a value's type. */
  public static String name(Object value) {
    return switch (value) {
      case String _ -> "str";
      case Markup _ -> "Markup";
      case Boolean _ -> "bool";
      case Long _ -> "int";
      case BigInteger _ -> "int";
      case Double _ -> "float";
      case None _ -> "NoneType";
      case List<?> _ -> "list";
      case Tuple _ -> "tuple";
      case Map<?, ?> _ -> "dict";
      case View view -> view.kind();
      case Lazy _ -> "generator";
      case Undefined _ -> "Undefined";
      case Namespace _ -> "Namespace";
      case Loop _ -> "LoopContext";
      default -> "function";
    };
  }

  /** Python's {@code bool()}. */
  public static boolean truth(Object value) {
    return switch (value) {
      case Boolean truth -> truth;
      case String text -> !text.isEmpty();
      case Markup markup -> !markup.text().isEmpty();
      case Long number -> number != 0;
      case Double number -> number != 0;
      case None _ -> false;
      case Undefined _ -> false;
      case List<?> list -> !list.isEmpty();
      case Tuple tuple -> !tuple.items().isEmpty();
      case Map<?, ?> map -> !map.isEmpty();
      case View view -> !view.items().isEmpty();
      default -> true;
    };
  }

  /** Whether it is a number; truth values are. */
  public static boolean isNumber(Object value) {
    return value instanceof Long
        || value instanceof Double
        || value instanceof Boolean
        || value instanceof BigInteger;
  }

  /** Whether {@link #walk} goes through it. */
  public static boolean isIterable(Object value) {
    return switch (value) {
      case String _ -> true;
      case Markup _ -> true;
      case List<?> _ -> true;
      case Tuple _ -> true;
      case Map<?, ?> _ -> true;
      case View _ -> true;
      case Lazy _ -> true;
      case Undefined _ -> true;
      default -> false;
    };
  }

  /** Elements one by one; those of a text are its characters, of a dict its keys. */
  public static Iterator<Object> walk(Object value, Budget budget) {
    return switch (value) {
      case Lazy lazy -> lazy.items();
      default -> elements(value, budget).iterator();
    };
  }

  /** All elements; of a generator those that are left. */
  public static List<Object> elements(Object value, Budget budget) {
    return switch (value) {
      case List<?> list -> objects(list);
      case Tuple tuple -> tuple.items();
      case View view -> view.items();
      case Markup markup -> elements(markup.text(), budget);
      case Undefined _ -> List.of();
      case Map<?, ?> map -> {
        budget.madeElements(map.size());
        yield new ArrayList<>(map.keySet());
      }
      case String text -> {
        budget.madeElements(text.length());
        List<Object> characters = new ArrayList<>(text.length());
        text.codePoints().forEach(point -> characters.add(Character.toString(point)));
        yield characters;
      }
      case Lazy lazy -> {
        List<Object> items = new ArrayList<>();
        while (lazy.items().hasNext()) {
          budget.madeElements(1);
          items.add(lazy.items().next());
        }
        yield items;
      }
      default -> throw Failure.failed("'%s' object is not iterable", name(value));
    };
  }

  /**
   * Python's {@code len()}: a text's in code points.
   *
   * @throws Failure for what has none
   */
  public static long length(Object value, Budget budget) {
    return switch (value) {
      case String text -> {
        budget.scan(text.length());
        yield text.codePointCount(0, text.length());
      }
      case Markup markup -> length(markup.text(), budget);
      case List<?> list -> list.size();
      case Tuple tuple -> tuple.items().size();
      case Map<?, ?> map -> map.size();
      case View view -> view.items().size();
      case Undefined _ -> 0;
      default -> throw Failure.failed("object of type '%s' has no len()", name(value));
    };
  }

  /** Whether {@code container} holds {@code item}, Python's {@code in}. */
  static boolean contains(Object container, Object item, Budget budget) {
    return switch (Markup.plain(container)) {
      case String text -> {
        if (Markup.plain(item) instanceof String part) {
          budget.scan(text.length());
          yield text.contains(part);
        }
        throw Failure.failed("'in <string>' requires string as left operand, not %s", name(item));
      }
      case Map<?, ?> map -> map.containsKey(key(item));
      default -> holds(container, item, budget);
    };
  }

  private static boolean holds(Object container, Object item, Budget budget) {
    if (!isIterable(container)) {
      throw Failure.failed("argument of type '%s' is not iterable", name(container));
    }
    for (Iterator<Object> items = walk(container, budget); items.hasNext(); ) {
      if (Order.equal(items.next(), item, budget)) {
        return true;
      }
    }
    return false;
  }

  /**
   * A value as the key of a dict: equal numbers are one key, whatever their type.
   *
   * @throws Failure for what Python can't hash
   */
  public static Object key(Object value) {
    return switch (value) {
      case Boolean truth -> truth ? 1L : 0L;
      case Markup markup -> markup.text();
      case Double number when number == Math.rint(number) && Math.abs(number) < 1L << 53 ->
          number.longValue();
      case Tuple tuple -> {
        List<Object> keys = new ArrayList<>();
        for (Object item : tuple.items()) {
          if (item instanceof Tuple) {
            throw Failure.failed("a tuple within a tuple is no key here");
          }
          keys.add(key(item));
        }
        yield new Tuple(keys);
      }
      case List<?> _ -> throw unhashable(value);
      case Map<?, ?> _ -> throw unhashable(value);
      case View _ -> throw unhashable(value);
      default -> value;
    };
  }

  private static Failure unhashable(Object value) {
    return Failure.failed("unhashable type: '%s'", name(value));
  }

  /** A list whose elements are values, which every list here is. */
  @SuppressWarnings("unchecked") // lists come to be in the interpreter only, with values in them
  static List<Object> objects(List<?> list) {
    return (List<Object>) list;
  }

  /** A map whose keys and values are values, which every map here is. */
  @SuppressWarnings("unchecked") // as above
  static Map<Object, Object> objects(Map<?, ?> map) {
    return (Map<Object, Object>) map;
  }
}
