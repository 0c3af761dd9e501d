package dev.flotilla.gguf.template;

import java.util.List;

/** A Python tuple: a list in all but its writing and its use as a key. */
record Tuple(List<Object> items) {
  static Tuple of(Object... items) {
    return new Tuple(List.of(items));
  }
}
