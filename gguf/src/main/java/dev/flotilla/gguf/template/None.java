package dev.flotilla.gguf.template;

/** Python's {@code None}. */
public enum None {
  NONE
}
