package dev.flotilla.gguf.python;

/** White space as Python's texts have it. */
public final class Blanks {
  private Blanks() {}

  /** All white space lies in the basic plane, so a {@code char} is enough. */
  public static boolean isBlank(int c) {
    return c == ' '
        || (c >= 0x09 && c <= 0x0d)
        || (c >= 0x1c && c <= 0x1f)
        || c == 0x85
        || c == 0xa0
        || c == 0x1680
        || (c >= 0x2000 && c <= 0x200a)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202f
        || c == 0x205f
        || c == 0x3000;
  }

  /** Whether there is nothing else from here on. */
  public static boolean isBlank(String text, int from) {
    for (int i = from; i < text.length(); i++) {
      if (!isBlank(text.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  static String stripStart(String text) {
    int start = 0;
    while (start < text.length() && isBlank(text.charAt(start))) {
      start++;
    }
    return text.substring(start);
  }

  /** The text without the white space at its end. */
  public static String stripEnd(String text) {
    int end = text.length();
    while (end > 0 && isBlank(text.charAt(end - 1))) {
      end--;
    }
    return text.substring(0, end);
  }
}
