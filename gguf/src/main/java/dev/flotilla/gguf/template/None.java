package dev.flotilla.gguf.template;

/** Python's {@code None}. */
enum None {
  NONE
}
