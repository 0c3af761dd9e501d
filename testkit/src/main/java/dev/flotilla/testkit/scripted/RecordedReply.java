package dev.flotilla.testkit.scripted;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Locale;

/**
 * Whole replies as llama.cpp's own server wrote them, head and all, recorded from build 11549 with
 * SmolLM2-135M, one slot of 512 tokens, and {@code max_tokens} 4.
 */
public enum RecordedReply {
  HEALTH,
  MODELS,
  UNAUTHORIZED,
  CHAT,
  CHAT_STREAM,
  /** With {@code stream_options.include_usage}. */
  CHAT_STREAM_USAGE,
  COMPLETION_STREAM,
  /** To a prompt of 2031 tokens. */
  OVERFLOW,
  NOT_JSON,
  NOT_FOUND;

  /** The bytes from the status line to the end of the framing. */
  public byte[] bytes() {
    String name = "llama-server/" + name().toLowerCase(Locale.ROOT).replace('_', '-') + ".http";
    try (InputStream in = RecordedReply.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException(name + " is missing");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(name + " can't be read", e);
    }
  }
}
