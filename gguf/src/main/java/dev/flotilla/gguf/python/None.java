package dev.flotilla.gguf.python;

/** Python's {@code None}. */
public enum None {
  NONE
}
