package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Undefined;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Names and their values. Each pass of a loop, each macro and each block that Jinja gives a scope
 * has its own within the one around it: it sees the names of that one, and what it sets itself is
 * gone at its end.
 */
final class Scope {
  private final @Nullable Scope outer;
  private final Map<String, Object> names;

  private Scope(@Nullable Scope outer, Map<String, Object> names) {
    this.outer = outer;
    this.names = names;
  }

  static Scope outermost(Map<String, Object> names) {
    return new Scope(null, new HashMap<>(names));
  }

  Scope inner() {
    return new Scope(this, new HashMap<>(4));
  }

  void set(String name, Object value) {
    names.put(name, value);
  }

  /** The value of a name, an {@link Undefined} where it has none. */
  Object get(String name) {
    for (Scope scope = this; scope != null; scope = scope.outer) {
      Object value = scope.names.get(name);
      if (value != null) {
        return value;
      }
    }
    return Undefined.name(name);
  }
}
