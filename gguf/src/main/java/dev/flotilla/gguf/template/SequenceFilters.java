package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Arguments.Bound;
import dev.flotilla.gguf.python.Attributes;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Lazy;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.Operators;
import dev.flotilla.gguf.python.Order;
import dev.flotilla.gguf.python.Split;
import dev.flotilla.gguf.python.Tuple;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** Filters of lists, dicts and other values with elements. */
final class SequenceFilters {
  static final Map<String, Filter> ALL = all();

  private SequenceFilters() {}

  private static Map<String, Filter> all() {
    Map<String, Filter> all = new HashMap<>();
    all.put("length", (budget, value, arguments) -> Kinds.length(value, budget));
    all.put("count", (budget, value, arguments) -> Kinds.length(value, budget));
    all.put("list", (budget, value, arguments) -> new ArrayList<>(Kinds.elements(value, budget)));
    all.put("first", SequenceFilters::first);
    all.put("last", SequenceFilters::last);
    all.put("random", SequenceFilters::random);
    all.put("join", SequenceFilters::join);
    all.put("reverse", SequenceFilters::reverse);
    all.put("sort", SequenceFilters::sort);
    all.put("unique", SequenceFilters::unique);
    all.put("min", (budget, value, arguments) -> extreme(budget, value, arguments, "min"));
    all.put("max", (budget, value, arguments) -> extreme(budget, value, arguments, "max"));
    all.put("sum", SequenceFilters::sum);
    all.put("batch", SequenceFilters::batch);
    all.put("slice", SequenceFilters::slice);
    all.put("groupby", SequenceFilters::groupBy);
    all.put("dictsort", SequenceFilters::dictSort);
    all.put("items", SequenceFilters::items);
    all.putAll(Selections.ALL);
    return Map.copyOf(all);
  }

  private static Object first(Budget budget, Object value, Arguments arguments) {
    Iterator<Object> items = Kinds.walk(value, budget);
    return items.hasNext() ? items.next() : new Undefined("no first item, sequence was empty");
  }

  private static Object last(Budget budget, Object value, Arguments arguments) {
    if (value instanceof Lazy) {
      throw Failure.failed("'generator' object is not reversible");
    }
    List<Object> items = Kinds.elements(value, budget);
    return items.isEmpty() ? new Undefined("no last item, sequence was empty") : items.getLast();
  }

  private static Object random(Budget budget, Object value, Arguments arguments) {
    List<Object> items = Kinds.elements(value, budget);
    return items.isEmpty()
        ? new Undefined("no random item, sequence was empty")
        : items.get(ThreadLocalRandom.current().nextInt(items.size()));
  }

  private static Object join(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("join", "d", "attribute");
    String separator = Written.text(bound.or(0, ""), budget);
    StringBuilder out = new StringBuilder();
    boolean first = true;
    for (Object item : Kinds.elements(value, budget)) {
      Object shown = bound.has(1) ? Selections.path(item, bound.required(1), budget) : item;
      String text = Written.text(shown, budget);
      budget.made(text.length() + (long) separator.length());
      out.append(first ? "" : separator).append(text);
      first = false;
    }
    return out.toString();
  }

  private static Object reverse(Budget budget, Object value, Arguments arguments) {
    if (value instanceof String text) {
      budget.made(text.length());
      return new StringBuilder(text).reverse().toString();
    }
    List<Object> reversed = new ArrayList<>(Kinds.elements(value, budget));
    Collections.reverse(reversed);
    return Lazy.over(value, reversed.iterator());
  }

  /** What is compared: a part of each element, without regard to case unless that is asked for. */
  private static Object sortKey(
      Budget budget, Object item, Object attribute, boolean caseSensitive) {
    List<Object> keys = new ArrayList<>();
    if (attribute instanceof String names) {
      for (Object name : Split.parts(names, ",", -1, false)) {
        keys.add(Selections.path(item, name, budget));
      }
    } else {
      keys.add(attribute instanceof None ? item : Selections.path(item, attribute, budget));
    }
    if (!caseSensitive) {
      keys.replaceAll(key -> key instanceof String text ? text.toLowerCase(Locale.ROOT) : key);
    }
    return keys.size() == 1 ? keys.getFirst() : keys;
  }

  private static Object sort(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("sort", "reverse", "case_sensitive", "attribute");
    return sorted(
        budget,
        Kinds.elements(value, budget),
        bound.or(2, None.NONE),
        bound.truth(1, false),
        bound.truth(0, false));
  }

  private static List<Object> sorted(
      Budget budget, List<Object> items, Object attribute, boolean caseSensitive, boolean reverse) {
    Comparator<Object> order = Order.comparator(budget);
    Comparator<Object> byKey =
        (a, b) ->
            order.compare(
                sortKey(budget, a, attribute, caseSensitive),
                sortKey(budget, b, attribute, caseSensitive));
    return Order.sorted(items, reverse ? byKey.reversed() : byKey, budget);
  }

  private static Object unique(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("unique", "case_sensitive", "attribute");
    Set<Object> seen = new HashSet<>();
    List<Object> kept = new ArrayList<>();
    for (Object item : Kinds.elements(value, budget)) {
      Object key = sortKey(budget, item, bound.or(1, None.NONE), bound.truth(0, false));
      if (seen.add(Kinds.key(key))) {
        kept.add(item);
      }
    }
    budget.madeElements(kept.size());
    return Lazy.over(value, kept.iterator());
  }

  private static Object extreme(Budget budget, Object value, Arguments arguments, String name) {
    Bound bound = arguments.bind(name, "case_sensitive", "attribute");
    List<Object> sorted =
        sorted(
            budget,
            Kinds.elements(value, budget),
            bound.or(1, None.NONE),
            bound.truth(0, false),
            name.equals("max"));
    return sorted.isEmpty()
        ? new Undefined("no aggregated item, sequence was empty")
        : sorted.getFirst();
  }

  private static Object sum(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("sum", "attribute", "start");
    Object sum = bound.or(1, 0L);
    Object attribute = bound.or(0, None.NONE);
    for (Object item : Kinds.elements(value, budget)) {
      Object part = attribute instanceof None ? item : Selections.path(item, attribute, budget);
      sum = Operators.apply("+", sum, part, budget);
    }
    return sum;
  }

  private static Object batch(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("batch", "linecount", "fill_with");
    long size = Numbers.index(bound.required(0), "batch");
    if (size < 1) {
      throw Failure.failed("batch needs a size of at least 1");
    }
    List<Object> batches = new ArrayList<>();
    List<Object> batch = new ArrayList<>();
    for (Object item : Kinds.elements(value, budget)) {
      budget.madeElements(1);
      if (batch.size() == size) {
        batches.add(batch);
        batch = new ArrayList<>();
      }
      batch.add(item);
    }
    if (!batch.isEmpty()) {
      Object fill = bound.or(1, None.NONE);
      if (!(fill instanceof None)) {
        budget.madeElements(size - batch.size());
        batch.addAll(Collections.nCopies((int) size - batch.size(), fill));
      }
      batches.add(batch);
    }
    return Lazy.over(value, batches.iterator());
  }

  private static Object slice(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("slice", "slices", "fill_with");
    List<Object> items = Kinds.elements(value, budget);
    long slices = Numbers.index(bound.required(0), "slice");
    if (slices < 1) {
      throw Failure.failed("slice needs at least 1 slice");
    }
    budget.madeElements(slices + items.size());
    int each = (int) (items.size() / slices);
    int longer = (int) (items.size() % slices);
    List<Object> all = new ArrayList<>();
    int from = 0;
    for (int i = 0; i < slices; i++) {
      int to = from + each + (i < longer ? 1 : 0);
      List<Object> part = new ArrayList<>(items.subList(from, to));
      if (bound.has(1) && !(bound.required(1) instanceof None) && i >= longer) {
        part.add(bound.required(1));
      }
      all.add(part);
      from = to;
    }
    return Lazy.over(value, all.iterator());
  }

  private static Object groupBy(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("groupby", "attribute", "default", "case_sensitive");
    Object attribute = bound.required(0);
    boolean caseSensitive = bound.truth(2, false);
    List<Object> groups = new ArrayList<>();
    List<Object> group = new ArrayList<>();
    Object before = None.NONE;
    for (Object item :
        sorted(budget, Kinds.elements(value, budget), attribute, caseSensitive, false)) {
      Object key = sortKey(budget, item, attribute, caseSensitive);
      if (group.isEmpty() || !Order.equal(before, key, budget)) {
        group = new ArrayList<>();
        Object shown = Selections.path(item, attribute, budget);
        groups.add(Tuple.of(shown instanceof Undefined ? bound.or(1, shown) : shown, group));
      }
      group.add(item);
      before = key;
    }
    return groups;
  }

  private static Object dictSort(Budget budget, Object value, Arguments arguments) {
    Bound bound = arguments.bind("dictsort", "case_sensitive", "by", "reverse");
    if (!(value instanceof Map<?, ?> map)) {
      throw value instanceof Undefined missing
          ? missing.failure()
          : Failure.failed("dictsort needs a dict, not %s", Kinds.name(value));
    }
    String by = bound.text(1, "key");
    if (!by.equals("key") && !by.equals("value")) {
      throw Failure.failed("you can only sort by either 'key' or 'value'");
    }
    return sorted(
        budget,
        Attributes.pairs(map, budget),
        by.equals("key") ? 0L : 1L,
        bound.truth(0, false),
        bound.truth(2, false));
  }

  private static Object items(Budget budget, Object value, Arguments arguments) {
    return switch (value) {
      case Undefined _ -> Lazy.over(value, Collections.emptyIterator());
      case Map<?, ?> map -> Lazy.over(value, Attributes.pairs(map, budget).iterator());
      default -> throw Failure.failed("can only get item pairs from a mapping");
    };
  }

  /** A dict with the entries of others, later ones overruling earlier. */
  static Map<Object, Object> merged(List<Object> dicts, Budget budget) {
    Map<Object, Object> merged = new LinkedHashMap<>();
    for (Object dict : dicts) {
      if (dict instanceof Map<?, ?> map) {
        merged.putAll(map);
      } else {
        for (Object pair : Kinds.elements(dict, budget)) {
          List<Object> parts = Kinds.elements(pair, budget);
          if (parts.size() != 2) {
            throw Failure.failed("a dict is made of pairs");
          }
          merged.put(Kinds.key(parts.get(0)), parts.get(1));
        }
      }
    }
    budget.madeElements(merged.size());
    return merged;
  }
}
