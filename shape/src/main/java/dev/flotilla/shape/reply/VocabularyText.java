package dev.flotilla.shape.reply;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Tokens as vocabularies write them. Byte-level ones (GPT-2's scheme) have a character for each
 * byte: its own where that can be seen, otherwise the next one from U+0100 on, so that a space is
 * {@code Ġ}. SentencePiece's have {@code ▁} for a space and {@code <0x0A>} for a single byte.
 */
final class VocabularyText {
  private static final char SPACE_MARK = '\u2581';
  private static final int BYTE_TOKEN_CHARS = 6;
  private static final int[] BYTES = bytes();

  private VocabularyText() {}

  /** Puts {@code token} and {@code bytes} of the token. */
  static void put(ObjectNode entry, String token) {
    byte[] bytes = decode(token);
    entry.put("token", new String(bytes, UTF_8));
    ArrayNode list = entry.putArray("bytes");
    for (byte each : bytes) {
      list.add(each & 0xff);
    }
  }

  private static byte[] decode(String token) {
    if (token.length() == BYTE_TOKEN_CHARS && token.matches("<0x[0-9A-F]{2}>")) {
      return new byte[] {(byte) Integer.parseInt(token.substring(3, 5), 16)};
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(token.length());
    for (int i = 0; i < token.length(); i++) {
      char c = token.charAt(i);
      int value = c < BYTES.length ? BYTES[c] : -1;
      if (value < 0) {
        return token.replace(SPACE_MARK, ' ').getBytes(UTF_8);
      }
      bytes.write(value);
    }
    return bytes.toByteArray();
  }

  /** The byte of each character, -1 where it stands for none. */
  private static int[] bytes() {
    int[] bytes = new int[0x100 + 0x44];
    Arrays.fill(bytes, -1);
    int next = 0x100;
    for (int value = 0; value < 0x100; value++) {
      boolean seen =
          (value >= '!' && value <= '~')
              || (value >= 0xa1 && value <= 0xac)
              || (value >= 0xae && value <= 0xff);
      bytes[seen ? value : next++] = value;
    }
    return bytes;
  }
}
