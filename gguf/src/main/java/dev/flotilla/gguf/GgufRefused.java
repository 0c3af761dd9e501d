package dev.flotilla.gguf;

import java.nio.file.Path;

/**
 * A file that is not a usable model file. The message is one sentence that names file and reason.
 */
public final class GgufRefused extends Exception {
  private static final long serialVersionUID = 1L;

  /** A refusal whose message is {@code FILE: reason}. */
  public GgufRefused(Path file, String reason) {
    super(printable(file.toString()) + ": " + reason);
  }

  /** Text from outside, fit for a message: no control characters, at most 200 characters. */
  public static String printable(String text) {
    String clean = text.replaceAll("\\p{Cntrl}", "?");
    return clean.length() <= 200 ? clean : clean.substring(0, 197) + "...";
  }
}
