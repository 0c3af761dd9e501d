package dev.flotilla.gguf.tokenizer;

import java.nio.charset.StandardCharsets;

/** UTF-8, for texts that may have half a character in them. */
final class Utf8 {
  private Utf8() {}

  /** A text's bytes; half a pair of surrogates becomes U+FFFD, and no question mark. */
  static byte[] bytes(String text) {
    return wellFormed(text).getBytes(StandardCharsets.UTF_8);
  }

  private static String wellFormed(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (Character.isHighSurrogate(c)
            && i + 1 < text.length()
            && Character.isLowSurrogate(text.charAt(i + 1))) {
          i++;
        } else {
          return replaced(text);
        }
      }
    }
    return text;
  }

  private static String replaced(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints()
        .forEach(point ->
            out.appendCodePoint(
                point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE
                    ? 0xfffd
                    : point));
    return out.toString();
  }

  /**
   * How many bytes at the end of {@code bytes[0, length)} begin a character whose rest is still to
   * come; at most three.
   */
  static int incomplete(byte[] bytes, int length) {
    for (int back = 1; back <= Math.min(3, length); back++) {
      int b = bytes[length - back] & 0xff;
      if (b < 0x80) {
        return 0;
      }
      if (b >= 0xc0) {
        int whole = b < 0xe0 ? 2 : b < 0xf0 ? 3 : 4;
        return back < whole && canGoOn(bytes, length - back, length) ? back : 0;
      }
    }
    return 0;
  }

  /** Whether what has begun can still become a character. */
  private static boolean canGoOn(byte[] bytes, int from, int to) {
    int first = bytes[from] & 0xff;
    if (first < 0xc2 || first > 0xf4) {
      return false;
    }
    if (to - from < 2) {
      return true;
    }
    int second = bytes[from + 1] & 0xff;
    return switch (first) {
      case 0xe0 -> second >= 0xa0;
      case 0xed -> second < 0xa0; // no surrogates
      case 0xf0 -> second >= 0x90;
      case 0xf4 -> second < 0x90;
      default -> true;
    };
  }
}
