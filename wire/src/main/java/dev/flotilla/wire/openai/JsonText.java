package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.UTF_8;

import tools.jackson.core.io.JsonStringEncoder;

/** Strings as JSON writes them. */
final class JsonText {
  private JsonText() {}

  /** The string in quotes, in UTF-8; half a surrogate pair becomes a question mark. */
  static byte[] quoted(String text) {
    String whole = new String(text.getBytes(UTF_8), UTF_8);
    byte[] inner = JsonStringEncoder.getInstance().quoteAsUTF8(whole);
    byte[] quoted = new byte[inner.length + 2];
    quoted[0] = '"';
    System.arraycopy(inner, 0, quoted, 1, inner.length);
    quoted[quoted.length - 1] = '"';
    return quoted;
  }
}
