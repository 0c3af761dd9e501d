package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Callable.Function;
import dev.flotilla.gguf.python.Namespace;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.time.Clock;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The functions that every template can call. */
final class Globals {
  private Globals() {}

  /** All of them by name; the clock is that of {@code strftime_now}. */
  static Map<String, Object> functions(Clock clock) {
    return Map.of(
        "namespace", new Function("namespace", Globals::namespace),
        "dict", new Function("dict", Globals::dict),
        "range", new Function("range", Globals::range),
        "cycler", new Function("cycler", Globals::cycler),
        "joiner", new Function("joiner", Globals::joiner),
        "raise_exception", new Function("raise_exception", Globals::raise),
        "strftime_now", new Function("strftime_now", (_, arguments) -> now(clock, arguments)));
  }

  private static Object namespace(Budget budget, Arguments arguments) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    SequenceFilters.merged(arguments.positional(), budget)
        .forEach((key, value) -> attributes.put(Written.text(key, budget), value));
    attributes.putAll(arguments.named());
    return new Namespace(attributes);
  }

  private static Object dict(Budget budget, Arguments arguments) {
    Map<Object, Object> dict = SequenceFilters.merged(arguments.positional(), budget);
    dict.putAll(arguments.named());
    return dict;
  }

  private static Object range(Budget budget, Arguments arguments) {
    List<Object> bounds = arguments.bind("range", "start", "stop", "step").given();
    if (bounds.isEmpty()) {
      throw Failure.failed("range expected at least 1 argument");
    }
    long first = Numbers.index(bounds.getFirst(), "range");
    long start = bounds.size() == 1 ? 0 : first;
    long stop = bounds.size() == 1 ? first : Numbers.index(bounds.get(1), "range");
    long step = bounds.size() < 3 ? 1 : Numbers.index(bounds.get(2), "range");
    if (step == 0) {
      throw Failure.failed("range() arg 3 must not be zero");
    }
    int max = budget.limits().rangeMax();
    List<Object> numbers = new ArrayList<>();
    for (long at = start; step > 0 ? at < stop : at > stop; at += step) {
      if (numbers.size() == max) {
        throw Failure.limit("a range of more than %,d numbers".formatted(max));
      }
      numbers.add(at);
      if (at > 0 == step > 0 && Math.abs(at) > Long.MAX_VALUE - Math.abs(step)) {
        break;
      }
    }
    budget.madeElements(numbers.size());
    return numbers;
  }

  private static Object cycler(Budget budget, Arguments arguments) {
    List<Object> items = arguments.positional();
    if (items.isEmpty()) {
      throw Failure.failed("at least one item has to be provided");
    }
    Map<String, Object> attributes = new LinkedHashMap<>();
    int[] at = {0};
    attributes.put("current", items.getFirst());
    Namespace cycler = new Namespace(attributes);
    cycler
        .attributes()
        .put(
            "next",
            new Function(
                "next",
                (_, _) -> {
                  Object now = items.get(at[0]);
                  at[0] = (at[0] + 1) % items.size();
                  cycler.attributes().put("current", items.get(at[0]));
                  return now;
                }));
    cycler
        .attributes()
        .put(
            "reset",
            new Function(
                "reset",
                (_, _) -> {
                  at[0] = 0;
                  cycler.attributes().put("current", items.getFirst());
                  return None.NONE;
                }));
    return cycler;
  }

  private static Object joiner(Budget budget, Arguments arguments) {
    Object separator = arguments.bind("joiner", "sep").or(0, ", ");
    boolean[] used = {false};
    return new Function(
        "joiner",
        (_, _) -> {
          Object now = used[0] ? separator : "";
          used[0] = true;
          return now;
        });
  }

  private static Object raise(Budget budget, Arguments arguments) {
    throw Failure.raised(
        Written.text(arguments.bind("raise_exception", "message").required(0), budget));
  }

  private static Object now(Clock clock, Arguments arguments) {
    String format = arguments.bind("strftime_now", "format").text(0);
    return Strftime.format(format, ZonedDateTime.now(clock));
  }
}
