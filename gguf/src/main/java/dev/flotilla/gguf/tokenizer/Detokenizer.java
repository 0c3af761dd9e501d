package dev.flotilla.gguf.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Tokens to text as they come, without ever giving out half a character: up to three bytes of one
 * that has begun are kept until the rest is there. Bytes that can't become a character are given
 * out as U+FFFD at once. For one text, on one thread.
 */
public final class Detokenizer {
  private final Tokenizer tokenizer;
  private final boolean showControl;
  private byte[] kept = new byte[0];

  /**
   * A detokenizer at the beginning of a text.
   *
   * @param showControl whether control tokens are written by their names, or not at all
   */
  public Detokenizer(Tokenizer tokenizer, boolean showControl) {
    this.tokenizer = tokenizer;
    this.showControl = showControl;
  }

  /** The text that a token completes; empty where it completes none. */
  public String next(int token) {
    byte[] piece = tokenizer.piece(token);
    TokenKind kind = tokenizer.kind(token);
    if (!showControl && (kind == TokenKind.CONTROL || kind == TokenKind.UNKNOWN)) {
      return "";
    }
    byte[] bytes = Arrays.copyOf(kept, kept.length + piece.length);
    System.arraycopy(piece, 0, bytes, kept.length, piece.length);
    int whole = bytes.length - Utf8.incomplete(bytes, bytes.length);
    kept = Arrays.copyOfRange(bytes, whole, bytes.length);
    return new String(bytes, 0, whole, StandardCharsets.UTF_8);
  }

  /** What is left at the end of the text: U+FFFD where a character was not finished. */
  public String end() {
    String rest = new String(kept, StandardCharsets.UTF_8);
    kept = new byte[0];
    return rest;
  }
}
