package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Parts of texts and lists, {@code [start:stop:step]}. */
public final class Slices {
  private Slices() {}

  /**
   * {@code owner[start:stop:step]}; bounds that are left out are {@link None}.
   *
   * @throws Failure for what has no slices, and a step of 0
   */
  public static Object of(Object owner, Object start, Object stop, Object step, Budget budget) {
    return switch (owner) {
      case String text -> text(text, start, stop, step, budget);
      case Markup markup -> new Markup(text(markup.text(), start, stop, step, budget));
      case List<?> list -> list(list, start, stop, step, budget);
      case Tuple tuple -> new Tuple(list(tuple.items(), start, stop, step, budget));
      case Undefined missing -> throw missing.failure();
      case Map<?, ?> _ -> throw Failure.failed("unhashable type: 'slice'");
      default -> throw Failure.failed("'%s' object is not subscriptable", Kinds.name(owner));
    };
  }

  private static String text(String text, Object start, Object stop, Object step, Budget budget) {
    budget.scan(text.length());
    int points = text.codePointCount(0, text.length());
    Range range = range(points, start, stop, step);
    budget.made(range.count);
    if (range.step == 1) {
      int from = text.offsetByCodePoints(0, Math.min(range.start, points));
      return text.substring(from, text.offsetByCodePoints(from, range.count));
    }
    int[] all = text.codePoints().toArray();
    StringBuilder part = new StringBuilder();
    for (int i = 0, at = range.start; i < range.count; i++, at += range.step) {
      part.appendCodePoint(all[at]);
    }
    return part.toString();
  }

  private static List<Object> list(
      List<?> list, Object start, Object stop, Object step, Budget budget) {
    Range range = range(list.size(), start, stop, step);
    budget.madeElements(range.count);
    List<Object> part = new ArrayList<>(range.count);
    for (int i = 0, at = range.start; i < range.count; i++, at += range.step) {
      part.add(list.get(at));
    }
    return part;
  }

  private record Range(int start, int count, int step) {}

  /** Python's {@code slice.indices}. */
  private static Range range(int length, Object start, Object stop, Object step) {
    long by = step instanceof None ? 1 : Numbers.index(step, "a slice");
    if (by == 0) {
      throw Failure.failed("slice step cannot be zero");
    }
    boolean back = by < 0;
    long low = back ? -1 : 0;
    long high = back ? length - 1 : length;
    long from = start instanceof None ? (back ? high : low) : place(start, length, low, high);
    long to = stop instanceof None ? (back ? low : high) : place(stop, length, low, high);
    long width = back ? from - to : to - from;
    // a step beyond the length takes one element, whatever it is
    int stride = (int) Math.clamp(by, -length - 1L, length + 1L);
    int count = width <= 0 ? 0 : (int) ((width + Math.abs(stride) - 1) / Math.abs(stride));
    return new Range(count == 0 ? 0 : (int) from, count, stride);
  }

  private static long place(Object index, int length, long low, long high) {
    long at = Numbers.index(index, "a slice");
    return Math.clamp(at < 0 ? at + length : at, low, high);
  }
}
