package dev.flotilla.gguf.tokenizer;

import java.util.function.IntPredicate;

/** A part of a text that is read by characters; beyond its ends there are none. */
final class Scanner {
  private final String text;
  private final int to;
  private int at;

  Scanner(String text, int from, int to) {
    this.text = text;
    this.at = from;
    this.to = to;
  }

  int at() {
    return at;
  }

  boolean hasNext() {
    return at < to;
  }

  /** The character at hand. */
  int current() {
    return pointAt(at);
  }

  /** The character behind the one at hand. */
  int following() {
    return at < to ? pointAt(next(at)) : Characters.NONE;
  }

  int pointAt(int place) {
    if (place >= to) {
      return Characters.NONE;
    }
    char c = text.charAt(place);
    return Character.isHighSurrogate(c) && place + 1 < to ? text.codePointAt(place) : c;
  }

  /** The place behind the character at a place. */
  int next(int place) {
    return place + Character.charCount(pointAt(place));
  }

  void moveTo(int place) {
    at = place;
  }

  void skip() {
    at = next(at);
  }

  /** Goes on over all characters of a kind. */
  void skip(IntPredicate kind) {
    while (at < to && kind.test(current())) {
      skip();
    }
  }

  /** Goes on over at most so many characters of a kind. */
  void skip(IntPredicate kind, int most) {
    for (int i = 0; i < most && at < to && kind.test(current()); i++) {
      skip();
    }
  }

  /**
   * Goes on over an English contraction, {@code 's 't 're 've 'm 'll 'd}, if there is one here.
   *
   * @param anyCase whether capital letters count
   */
  boolean skipContraction(boolean anyCase) {
    if (current() != '\'') {
      return false;
    }
    int first = lower(at + 1, anyCase);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') {
      at += 2;
      return true;
    }
    int second = lower(at + 2, anyCase);
    if ((first == 'r' && second == 'e')
        || (first == 'v' && second == 'e')
        || (first == 'l' && second == 'l')) {
      at += 3;
      return true;
    }
    return false;
  }

  private int lower(int place, boolean anyCase) {
    int point = pointAt(place);
    return anyCase && point >= 'A' && point <= 'Z' ? point + 32 : point;
  }

  /**
   * Goes on over white space: {@code \s+(?!\S)|\s+}. The last blank before a word stays with the
   * word.
   *
   * @param lineEnds whether a run of it first ends behind its last line end, {@code \s*[\r\n]+}
   */
  void skipSpace(boolean lineEnds) {
    int from = at;
    int last = at;
    int behindLineEnd = -1;
    while (at < to && Characters.isSpace(current())) {
      last = at;
      boolean ends = Characters.isLineEnd(current());
      skip();
      if (ends) {
        behindLineEnd = at;
      }
    }
    if (lineEnds && behindLineEnd >= 0) {
      at = behindLineEnd;
    } else if (at < to && last > from) {
      at = last;
    }
  }
}
