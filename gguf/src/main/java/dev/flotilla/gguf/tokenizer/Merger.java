package dev.flotilla.gguf.tokenizer;

/** Turns text without special tokens into tokens. */
interface Merger {
  /**
   * Appends the tokens of {@code text[from, to)}, which is UTF-8.
   *
   * @param afterSpecial whether it stands at the beginning or behind a special token
   */
  void tokenize(byte[] text, int from, int to, boolean afterSpecial, IntList tokens);
}
