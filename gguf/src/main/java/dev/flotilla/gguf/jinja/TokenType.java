package dev.flotilla.gguf.jinja;

/** What a {@link Token} is. */
enum TokenType {
  TEXT,
  PRINT_BEGIN,
  PRINT_END,
  BLOCK_BEGIN,
  BLOCK_END,
  NAME,
  STRING,
  NUMBER,
  OPERATOR,
  END
}
