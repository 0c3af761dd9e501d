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

  /** The whole vocabulary but its ends, a bit each. */
  private final long[] noEnds;

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
    noEnds = new long[words()];
    for (int token = 0; token < vocabulary; token++) {
      noEnds[token >> 6] |= 1L << token;
    }
    for (int end : ends) {
      noEnds[end >> 6] &= ~(1L << end);
    }
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

  /** Tokens from 64 times {@code word} on that do not end an answer, a bit each. */
  long noEnds(int word) {
    return noEnds[word];
  }

  /** Tokens of the vocabulary, those without text included. */
  int vocabulary() {
    return vocabulary;
  }

  boolean isEnd(int token) {
    return (noEnds[token >> 6] >>> token & 1) == 0;
  }

  int words() {
    return (vocabulary + 63) >> 6;
  }
}
