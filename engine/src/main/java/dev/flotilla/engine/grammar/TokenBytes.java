package dev.flotilla.engine.grammar;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * The tokens of a vocabulary that are text, in the order of their bytes, so that what begins alike
 * is looked at once.
 */
public final class TokenBytes {
  private final byte[][] pieces;
  private final int[] tokens;

  /** Of each token in order, how many bytes it has in common with the one before. */
  private final int[] common;

  private final int vocabulary;
  private final int[] ends;
  private final int longest;

  /**
   * For a vocabulary.
   *
   * @param pieces by token: its bytes, none where it is no text
   * @param ends the tokens that end an answer
   */
  public TokenBytes(byte[][] pieces, int[] ends) {
    this.vocabulary = pieces.length;
    this.ends = ends.clone();
    this.tokens =
        IntStream.range(0, pieces.length)
            .filter(token -> pieces[token].length > 0)
            .boxed()
            .sorted((a, b) -> Arrays.compareUnsigned(pieces[a], pieces[b]))
            .mapToInt(Integer::intValue)
            .toArray();
    this.pieces = new byte[tokens.length][];
    this.common = new int[tokens.length];
    int most = 0;
    for (int i = 0; i < tokens.length; i++) {
      this.pieces[i] = pieces[tokens[i]];
      most = Math.max(most, this.pieces[i].length);
      if (i > 0) {
        int mismatch = Arrays.mismatch(this.pieces[i - 1], this.pieces[i]);
        common[i] = mismatch < 0 ? this.pieces[i].length : mismatch;
      }
    }
    longest = most;
  }

  int size() {
    return tokens.length;
  }

  int token(int place) {
    return tokens[place];
  }

  byte[] piece(int place) {
    return pieces[place];
  }

  int common(int place) {
    return common[place];
  }

  int longest() {
    return longest;
  }

  int[] ends() {
    return ends;
  }

  int words() {
    return (vocabulary + 63) >> 6;
  }
}
