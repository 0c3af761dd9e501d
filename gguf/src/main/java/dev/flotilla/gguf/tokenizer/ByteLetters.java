package dev.flotilla.gguf.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The letters that byte-level vocabularies write bytes as: printable characters of Latin-1 stand
 * for themselves, each other byte for a letter from U+0100 on.
 */
final class ByteLetters {
  private static final char[] LETTERS = new char[256];
  private static final short[] BYTES = new short[512];

  static {
    Arrays.fill(BYTES, (short) -1);
    char next = 256;
    for (int b = 0; b < 256; b++) {
      boolean itself = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
      LETTERS[b] = itself ? (char) b : next++;
      BYTES[LETTERS[b]] = (short) b;
    }
  }

  private ByteLetters() {}

  /** A byte's letter in UTF-8. */
  static byte[] letter(int b) {
    return String.valueOf(LETTERS[b]).getBytes(StandardCharsets.UTF_8);
  }

  /** The byte of a letter, -1 for any other character. */
  static int byteOf(char letter) {
    return letter < BYTES.length ? BYTES[letter] : -1;
  }
}
