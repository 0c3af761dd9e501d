package dev.flotilla.bench.dataset;

import java.io.IOException;

/**
 * Counts tokens as the server under test does, by asking it. Texts are counted bare: without what a
 * chat template adds, and without the special tokens at the start of a text. Any thread may ask.
 */
public interface Tokenizer {

  /**
   * Tokens of that text.
   *
   * @throws IOException in words, where the server does not say
   */
  int count(String text) throws IOException;

  /**
   * Tokens that the server puts before a bare text, such as one that marks its beginning. {@code
   * vllm bench serve} counts them into the length that is asked for.
   */
  int specials();

  /** Whether a count costs the server next to nothing; else each is a request to its model. */
  boolean cheap();

  /** Who counts, in words for a note. */
  String words();
}
