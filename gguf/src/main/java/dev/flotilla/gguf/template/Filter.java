package dev.flotilla.gguf.template;

import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.sandbox.Budget;

/** What stands behind a {@code |}. */
@FunctionalInterface
interface Filter {
  Object apply(Budget budget, Object value, Arguments arguments);
}
