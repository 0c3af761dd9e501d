package dev.flotilla.gguf.python;

import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Texts cut into parts, as Python's {@code str} does it. */
public final class Split {
  private Split() {}

  /**
   * {@code split} and, from the end, {@code rsplit}.
   *
   * @param separator null for any white space
   * @param max cuts at most; negative for all
   */
  public static List<Object> parts(
      String text, @Nullable String separator, long max, boolean fromEnd) {
    long cuts = max < 0 ? Long.MAX_VALUE : max;
    if (separator == null) {
      return fromEnd ? wordsFromEnd(text, cuts) : words(text, cuts);
    }
    if (separator.isEmpty()) {
      throw Failure.failed("empty separator");
    }
    List<Object> parts = new ArrayList<>();
    if (!fromEnd) {
      int from = 0;
      for (int at = text.indexOf(separator); at >= 0 && cuts > 0; cuts--) {
        parts.add(text.substring(from, at));
        from = at + separator.length();
        at = text.indexOf(separator, from);
      }
      parts.add(text.substring(from));
      return parts;
    }
    int end = text.length();
    for (int at = text.lastIndexOf(separator); at >= 0 && cuts > 0; cuts--) {
      parts.add(text.substring(at + separator.length(), end));
      end = at;
      at = text.lastIndexOf(separator, end - separator.length());
    }
    parts.add(text.substring(0, end));
    Collections.reverse(parts);
    return parts;
  }

  private static List<Object> words(String text, long max) {
    List<Object> words = new ArrayList<>();
    int at = 0;
    while (true) {
      while (at < text.length() && Blanks.isBlank(text.charAt(at))) {
        at++;
      }
      if (at == text.length()) {
        return words;
      }
      if (words.size() >= max) {
        words.add(text.substring(at));
        return words;
      }
      int from = at;
      while (at < text.length() && !Blanks.isBlank(text.charAt(at))) {
        at++;
      }
      words.add(text.substring(from, at));
    }
  }

  private static List<Object> wordsFromEnd(String text, long max) {
    List<Object> words = new ArrayList<>();
    int at = text.length();
    while (true) {
      while (at > 0 && Blanks.isBlank(text.charAt(at - 1))) {
        at--;
      }
      if (at == 0) {
        break;
      }
      if (words.size() >= max) {
        words.add(text.substring(0, at));
        break;
      }
      int end = at;
      while (at > 0 && !Blanks.isBlank(text.charAt(at - 1))) {
        at--;
      }
      words.add(text.substring(at, end));
    }
    Collections.reverse(words);
    return words;
  }

  /**
   * The lines of a text, as {@code splitlines} has them.
   *
   * @param keepEnds whether each keeps its line end
   */
  public static List<Object> lines(String text, boolean keepEnds) {
    List<Object> lines = new ArrayList<>();
    int from = 0;
    for (int at = 0; at < text.length(); at++) {
      if (!endsLine(text.charAt(at))) {
        continue;
      }
      int next = at + (text.startsWith("\r\n", at) ? 2 : 1);
      lines.add(text.substring(from, keepEnds ? next : at));
      from = next;
      at = next - 1;
    }
    if (from < text.length()) {
      lines.add(text.substring(from));
    }
    return lines;
  }

  private static boolean endsLine(char c) {
    return (c >= 0x0a && c <= 0x0d)
        || (c >= 0x1c && c <= 0x1e)
        || c == 0x85
        || c == 0x2028
        || c == 0x2029;
  }

  static Tuple partition(String text, String separator, boolean fromEnd) {
    if (separator.isEmpty()) {
      throw Failure.failed("empty separator");
    }
    int at = fromEnd ? text.lastIndexOf(separator) : text.indexOf(separator);
    if (at < 0) {
      return fromEnd ? Tuple.of("", "", text) : Tuple.of(text, "", "");
    }
    return Tuple.of(text.substring(0, at), separator, text.substring(at + separator.length()));
  }
}
