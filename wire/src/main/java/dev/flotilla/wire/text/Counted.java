package dev.flotilla.wire.text;

import java.util.Locale;

/** How many of a thing, in words that people read: {@code 1 request}, {@code 1,204 requests}. */
public final class Counted {
  private Counted() {}

  /** With the thing's name, to which an s makes several. */
  public static String of(long number, String one) {
    return of(number, one, one + "s");
  }

  /** With the words for one and for several. */
  public static String of(long number, String one, String several) {
    return String.format(Locale.ROOT, "%,d %s", number, number == 1 ? one : several);
  }
}
