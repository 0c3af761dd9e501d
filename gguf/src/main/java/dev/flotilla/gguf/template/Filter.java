package dev.flotilla.gguf.template;

/** What stands behind a {@code |}. */
@FunctionalInterface
interface Filter {
  Object apply(Rendering rendering, Object value, Arguments arguments);
}
