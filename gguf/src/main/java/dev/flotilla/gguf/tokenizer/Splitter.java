package dev.flotilla.gguf.tokenizer;

/**
 * Cuts a text into the words within which tokens are merged. The published ones are regular
 * expressions; these are written by hand, look at each character a few times at most, and so take
 * time in proportion to the text, whatever the text is.
 */
@FunctionalInterface
interface Splitter {
  /** Cuts {@code text[from, to)}; all of it goes to {@code words}, in order. */
  void split(String text, int from, int to, Words words);

  /** Takes words as places of the text. */
  @FunctionalInterface
  interface Words {
    void word(int from, int to);
  }

  /** Cuts each word of this splitter with another. */
  default Splitter then(Splitter next) {
    return (text, from, to, words) ->
        split(text, from, to, (start, end) -> next.split(text, start, end, words));
  }
}
