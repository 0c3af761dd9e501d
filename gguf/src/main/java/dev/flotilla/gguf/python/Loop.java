package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/** The variable {@code loop} of one loop; calling it runs a recursive loop over something else. */
public final class Loop implements Callable {
  private final List<Object> items;
  private final int depth;

  /** What a call does: the items and the depth of the loop within; null where it may not. */
  private final @Nullable BiFunction<Object, Integer, Object> again;

  private int index = -1;
  private @Nullable Object changed;

  /**
   * @param depth how many loops it stands in by calls of {@code loop}, from 0
   * @param again what such a call does with the items and the depth of the loop within; null where
   *     it may not be made
   */
  public Loop(List<Object> items, int depth, @Nullable BiFunction<Object, Integer, Object> again) {
    this.items = items;
    this.depth = depth;
    this.again = again;
  }

  /** Goes on to the next item. */
  public Object next() {
    return items.get(++index);
  }

  /** Whether there is a next item. */
  public boolean hasNext() {
    return index + 1 < items.size();
  }

  String written() {
    return "<LoopContext %d/%d>".formatted(index + 1, items.size());
  }

  @Override
  public String name() {
    return "loop";
  }

  @Override
  public Object call(Budget budget, Arguments arguments) {
    if (again == null) {
      throw Failure.failed("this loop is not marked as recursive");
    }
    return again.apply(arguments.bind("loop", "iterable").required(0), depth + 1);
  }

  @Override
  public @Nullable Object attribute(String name) {
    return switch (name) {
      case "index" -> index + 1L;
      case "index0" -> (long) index;
      case "revindex" -> (long) items.size() - index;
      case "revindex0" -> items.size() - index - 1L;
      case "first" -> index == 0;
      case "last" -> index == items.size() - 1;
      case "length" -> (long) items.size();
      case "depth" -> depth + 1L;
      case "depth0" -> (long) depth;
      case "previtem" ->
          index > 0 ? items.get(index - 1) : new Undefined("there is no previous item");
      case "nextitem" -> hasNext() ? items.get(index + 1) : new Undefined("there is no next item");
      case "cycle" -> new Function("cycle", (_, arguments) -> cycle(arguments.positional()));
      case "changed" -> new Function("changed", this::changed);
      default -> null;
    };
  }

  private Object cycle(List<Object> values) {
    if (values.isEmpty()) {
      throw Failure.failed("no items for cycling given");
    }
    return values.get(index % values.size());
  }

  private Object changed(Budget budget, Arguments arguments) {
    Object now = new Tuple(arguments.positional());
    boolean different = changed == null || !Order.equal(changed, now, budget);
    changed = now;
    return different;
  }
}
