package dev.flotilla.gguf.tokenizer;

/** Unicode's categories of characters, as splitters ask for them. */
final class Characters {
  private static final int LETTERS =
      1 << Character.UPPERCASE_LETTER
          | 1 << Character.LOWERCASE_LETTER
          | 1 << Character.TITLECASE_LETTER
          | 1 << Character.MODIFIER_LETTER
          | 1 << Character.OTHER_LETTER;
  private static final int NUMBERS =
      1 << Character.DECIMAL_DIGIT_NUMBER
          | 1 << Character.LETTER_NUMBER
          | 1 << Character.OTHER_NUMBER;
  private static final int PUNCTUATION =
      1 << Character.CONNECTOR_PUNCTUATION
          | 1 << Character.DASH_PUNCTUATION
          | 1 << Character.START_PUNCTUATION
          | 1 << Character.END_PUNCTUATION
          | 1 << Character.INITIAL_QUOTE_PUNCTUATION
          | 1 << Character.FINAL_QUOTE_PUNCTUATION
          | 1 << Character.OTHER_PUNCTUATION;

  /** No character: beyond the end of the text at hand. */
  static final int NONE = -1;

  private Characters() {}

  /** {@code \p{L}}. */
  static boolean isLetter(int point) {
    return is(point, LETTERS);
  }

  /** {@code \p{N}}. */
  static boolean isNumber(int point) {
    return is(point, NUMBERS);
  }

  /** {@code \p{P}}. */
  static boolean isPunctuation(int point) {
    return is(point, PUNCTUATION);
  }

  private static boolean is(int point, int categories) {
    return point >= 0 && (categories >> Character.getType(point) & 1) != 0;
  }

  /** {@code \s}: white space of Unicode, which of the control characters has 9 to 13 and U+0085. */
  static boolean isSpace(int point) {
    return point == ' '
        || (point >= 0x09 && point <= 0x0d)
        || point == 0x85
        || point == 0xa0
        || point == 0x1680
        || (point >= 0x2000 && point <= 0x200a)
        || point == 0x2028
        || point == 0x2029
        || point == 0x202f
        || point == 0x205f
        || point == 0x3000;
  }

  static boolean isLineEnd(int point) {
    return point == '\r' || point == '\n';
  }

  /** {@code [^\s\p{L}\p{N}]}, a character that there is. */
  static boolean isOther(int point) {
    return point >= 0 && !isSpace(point) && !isLetter(point) && !isNumber(point);
  }
}
