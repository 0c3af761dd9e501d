package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Attributes;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Lazy;
import dev.flotilla.gguf.python.Split;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** {@code map}, {@code select} and their like, which work on an element when it is asked for. */
final class Selections {
  static final Map<String, Filter> ALL =
      Map.of(
          "map", Selections::map,
          "select", (budget, value, arguments) -> select(budget, value, arguments, true),
          "reject", (budget, value, arguments) -> select(budget, value, arguments, false),
          "selectattr",
              (budget, value, arguments) -> selectAttribute(budget, value, arguments, true),
          "rejectattr",
              (budget, value, arguments) -> selectAttribute(budget, value, arguments, false));

  private Selections() {}

  private static Object map(Budget budget, Object value, Arguments arguments) {
    Function<Object, Object> change;
    if (arguments.positional().isEmpty() && arguments.named().containsKey("attribute")) {
      Arguments.Bound bound = arguments.bind("map", "attribute", "default");
      Object path = bound.required(0);
      change =
          item -> {
            Object found = path(item, path, budget);
            return found instanceof Undefined ? bound.or(1, found) : found;
          };
    } else {
      if (arguments.positional().isEmpty()
          || !(arguments.positional().getFirst() instanceof String name)) {
        throw Failure.failed("map requires a filter argument");
      }
      Arguments rest = arguments.after(1);
      change = item -> Filters.apply(budget, name, item, rest);
    }
    Iterator<Object> items = source(budget, value);
    return Lazy.over(
        value,
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            return items.hasNext();
          }

          @Override
          public Object next() {
            budget.step();
            return change.apply(items.next());
          }
        });
  }

  private static Object select(Budget budget, Object value, Arguments arguments, boolean wanted) {
    Predicate<Object> test = test(budget, arguments);
    return kept(budget, value, item -> test.test(item) == wanted);
  }

  private static Object selectAttribute(
      Budget budget, Object value, Arguments arguments, boolean wanted) {
    if (arguments.positional().isEmpty()) {
      throw Failure.failed("selectattr requires an attribute");
    }
    Object path = arguments.positional().getFirst();
    Predicate<Object> test = test(budget, arguments.after(1));
    return kept(budget, value, item -> test.test(path(item, path, budget)) == wanted);
  }

  private static Predicate<Object> test(Budget budget, Arguments arguments) {
    if (arguments.positional().isEmpty()) {
      return Kinds::truth;
    }
    if (!(arguments.positional().getFirst() instanceof String name)) {
      throw Failure.failed("the test's name must be a str");
    }
    Arguments rest = arguments.after(1);
    return item -> Tests.check(budget, name, item, rest);
  }

  private static Object kept(Budget budget, Object value, Predicate<Object> keep) {
    Iterator<Object> items = source(budget, value);
    return Lazy.over(
        value,
        new Iterator<>() {
          private @Nullable Object ahead;

          @Override
          public boolean hasNext() {
            while (ahead == null && items.hasNext()) {
              budget.step();
              Object item = items.next();
              if (keep.test(item)) {
                ahead = item;
              }
            }
            return ahead != null;
          }

          @Override
          public Object next() {
            if (!hasNext() || ahead == null) {
              throw new NoSuchElementException();
            }
            Object item = ahead;
            ahead = null;
            return item;
          }
        });
  }

  private static Iterator<Object> source(Budget budget, Object value) {
    return Kinds.truth(value) ? Kinds.walk(value, budget) : List.<Object>of().iterator();
  }

  /** What a dotted path such as {@code function.name} or a number leads to. */
  static Object path(Object item, Object path, Budget budget) {
    if (!(path instanceof String names)) {
      return Attributes.item(item, path, budget);
    }
    Object value = item;
    for (Object name : Split.parts(names, ".", -1, false)) {
      String text = (String) name;
      boolean number =
          !text.isEmpty() && text.length() < 10 && text.chars().allMatch(c -> c >= '0' && c <= '9');
      value = Attributes.item(value, number ? (Object) Long.valueOf(text) : text, budget);
    }
    return value;
  }
}
