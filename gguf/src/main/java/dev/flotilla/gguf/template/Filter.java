package dev.flotilla.gguf.template;

/** What stands behind a {@code |}. */
@FunctionalInterface
interface Filter {
  Object apply(Budget budget, Object value, Arguments arguments);
}
