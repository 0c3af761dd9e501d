package dev.flotilla.gguf.python;

import dev.flotilla.gguf.python.Callable.Function;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Attributes and elements of values. {@code value.name} is an attribute before it is an element,
 * {@code value[name]} an element before it is an attribute; what would change a value is refused,
 * as in the sandbox that templates are written for.
 */
public final class Attributes {
  private static final Set<String> LIST_CHANGES =
      Set.of("append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort");
  private static final Set<String> DICT_CHANGES =
      Set.of("clear", "pop", "popitem", "setdefault", "update");

  private Attributes() {}

  /** {@code owner.name}. */
  public static Object get(Object owner, String name) {
    Object attribute = attribute(owner, name);
    if (attribute != null) {
      return attribute;
    }
    if (owner instanceof Map<?, ?> map) {
      Object value = map.get(name);
      if (value != null) {
        return value;
      }
    }
    if (owner instanceof Undefined missing) {
      throw missing.failure();
    }
    return Undefined.in(owner, "'" + name + "'");
  }

  /** {@code owner[key]}. */
  public static Object item(Object owner, Object named, Budget budget) {
    Object key = Markup.plain(named);
    Object value = element(owner, key, budget);
    if (value == null && key instanceof String name) {
      value = attribute(owner, name);
    }
    return value != null
        ? value
        : Undefined.in(owner, Written.repr(Kinds.isNumber(key) ? key : shortened(key), budget));
  }

  private static Object shortened(Object key) {
    return key instanceof String text && text.length() <= 100 ? text : Kinds.name(key);
  }

  private static @Nullable Object element(Object owner, Object key, Budget budget) {
    return switch (owner) {
      case Map<?, ?> map ->
          key instanceof List<?> || key instanceof Map<?, ?> ? null : map.get(Kinds.key(key));
      case List<?> list -> Numbers.isWhole(key) ? at(list, key) : null;
      case Tuple tuple -> Numbers.isWhole(key) ? at(tuple.items(), key) : null;
      case String text ->
          Numbers.isWhole(key) ? character(text, Numbers.index(key, "[]"), budget) : null;
      case Markup markup -> {
        Object part = element(markup.text(), key, budget);
        yield part == null ? null : Markup.marked(part);
      }
      case Undefined missing -> throw missing.failure();
      default -> null;
    };
  }

  private static @Nullable Object at(List<?> items, Object key) {
    long index = Numbers.index(key, "[]");
    long at = index < 0 ? index + items.size() : index;
    return at >= 0 && at < items.size() ? items.get((int) at) : null;
  }

  private static @Nullable Object character(String text, long index, Budget budget) {
    // near the ends, where templates look, without a walk over the whole text
    if (index >= text.length() || index < -text.length()) {
      return null;
    }
    budget.scan(Math.abs(index));
    try {
      int at =
          index < 0
              ? text.offsetByCodePoints(text.length(), (int) index)
              : text.offsetByCodePoints(0, (int) index);
      return at < text.length() ? Character.toString(text.codePointAt(at)) : null;
    } catch (IndexOutOfBoundsException e) {
      return null;
    }
  }

  private static @Nullable Object attribute(Object owner, String name) {
    if (name.startsWith("__")) {
      return owner instanceof Undefined ? null : unsafe(owner, name);
    }
    return switch (owner) {
      case String text -> TextMethods.of(text, name);
      case Markup markup -> markup.method(name);
      case Map<?, ?> map -> dictMethod(map, name);
      case List<?> list -> listMethod(list, name, true);
      case Tuple tuple -> listMethod(tuple.items(), name, false);
      case Namespace space -> space.attributes().get(name);
      case Callable callable -> callable.attribute(name);
      case Double number when name.equals("is_integer") ->
          new Function(name, (_, _) -> number == Math.rint(number));
      default -> null;
    };
  }

  private static Undefined unsafe(Object owner, String name) {
    return new Undefined(
        "access to attribute '%s' of '%s' object is unsafe".formatted(name, Kinds.name(owner)));
  }

  private static @Nullable Object dictMethod(Map<?, ?> map, String name) {
    if (DICT_CHANGES.contains(name)) {
      return unsafe(map, name);
    }
    return switch (name) {
      case "get" ->
          new Function(
              name,
              (_, arguments) -> {
                Arguments.Bound bound = arguments.bind("get", "key", "default");
                Object value = map.get(Kinds.key(bound.required(0)));
                return value == null ? bound.or(1, None.NONE) : value;
              });
      case "items" ->
          new Function(
              name,
              (budget, arguments) -> {
                arguments.bind(name);
                return new View("dict_items", pairs(map, budget));
              });
      case "keys" ->
          new Function(
              name,
              (budget, arguments) -> {
                arguments.bind(name);
                budget.madeElements(map.size());
                return new View("dict_keys", new ArrayList<>(map.keySet()));
              });
      case "values" ->
          new Function(
              name,
              (budget, arguments) -> {
                arguments.bind(name);
                budget.madeElements(map.size());
                return new View("dict_values", new ArrayList<>(map.values()));
              });
      case "copy" -> new Function(name, (_, _) -> map);
      default -> null;
    };
  }

  /** Keys and values of a dict as tuples. */
  public static List<Object> pairs(Map<?, ?> map, Budget budget) {
    budget.madeElements(3L * map.size());
    List<Object> pairs = new ArrayList<>(map.size());
    map.forEach((key, value) -> pairs.add(Tuple.of(key, value)));
    return pairs;
  }

  private static @Nullable Object listMethod(List<?> items, String name, boolean isList) {
    if (isList && LIST_CHANGES.contains(name)) {
      return unsafe(items, name);
    }
    return switch (name) {
      case "count" ->
          new Function(
              name,
              (budget, arguments) -> {
                Object wanted = arguments.bind(name, "value").required(0);
                long count = 0;
                for (Object item : items) {
                  count += Order.equal(item, wanted, budget) ? 1 : 0;
                }
                return count;
              });
      case "index" ->
          new Function(
              name,
              (budget, arguments) -> {
                Object wanted = arguments.bind(name, "value").required(0);
                for (int i = 0; i < items.size(); i++) {
                  if (Order.equal(items.get(i), wanted, budget)) {
                    return (long) i;
                  }
                }
                throw Failure.failed("the value is not in the list");
              });
      case "copy" -> isList ? new Function(name, (_, _) -> items) : null;
      default -> null;
    };
  }
}
