package dev.flotilla.gguf.tokenizer;

/** What a token is, after {@code tokenizer.ggml.token_type}. */
public enum TokenKind {
  /** Text, or a part of a character. */
  NORMAL,
  /** Stands for text that the vocabulary can't write. */
  UNKNOWN,
  /** Structure, such as the end of a turn; no text of a reply. */
  CONTROL,
  /** Text that is never merged with what is beside it. */
  USER_DEFINED,
  /** A place that nothing uses. */
  UNUSED,
  /** One byte, for characters that are no tokens. */
  BYTE;

  static TokenKind of(int type) {
    return switch (type) {
      case 2 -> UNKNOWN;
      case 3 -> CONTROL;
      case 4 -> USER_DEFINED;
      case 6 -> BYTE;
      case 1 -> NORMAL;
      default -> UNUSED;
    };
  }
}
