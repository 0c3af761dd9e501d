package dev.flotilla.gguf.python;

import java.util.List;

/** A Python tuple: a list in all but its writing and its use as a key. */
public record Tuple(List<Object> items) {
  /** A tuple of these. */
  public static Tuple of(Object... items) {
    return new Tuple(List.of(items));
  }
}
