package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Budget;
import org.jspecify.annotations.Nullable;

/** What a template can call: a macro, a method of a value, a function given from outside. */
public interface Callable {
  /** As messages name it. */
  String name();

  Object call(Budget budget, Arguments arguments);

  /** Its attribute of that name; null where it has none. */
  default @Nullable Object attribute(String name) {
    return null;
  }

  /** A function of the language or of its host. */
  record Function(String name, Body body) implements Callable {
    @Override
    public Object call(Budget budget, Arguments arguments) {
      return body.call(budget, arguments);
    }
  }

  /** What a function does. */
  @FunctionalInterface
  interface Body {
    Object call(Budget budget, Arguments arguments);
  }
}
