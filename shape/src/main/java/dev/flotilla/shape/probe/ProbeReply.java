package dev.flotilla.shape.probe;

import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** A reply as it came: status, type, bytes. Immutable; the bytes are not copied. */
public final class ProbeReply {
  private static final int FIRST_BUFFER_BYTES = 4 << 10;

  private final int status;
  private final String contentType;
  private final byte[] body;
  private final Optional<String> cut;

  /**
   * @param contentType the header, empty where there is none
   * @param body what came of it
   * @param cut why it is not the whole body, in words; empty where it is
   */
  public ProbeReply(int status, String contentType, byte[] body, Optional<String> cut) {
    this.status = status;
    this.contentType = contentType;
    this.body = body;
    this.cut = cut;
  }

  /** Takes a reply in: all of it, or what comes before it breaks off or is too long. */
  public static ProbeReply read(HttpReply reply, int bytesMax) {
    return read(reply, bytesMax, UnaryOperator.identity());
  }

  /**
   * Takes a reply in.
   *
   * @param explained what a failure of the connection means, such as a time limit that fired
   */
  public static ProbeReply read(
      HttpReply reply, int bytesMax, UnaryOperator<IOException> explained) {
    byte[] bytes = new byte[Math.min(FIRST_BUFFER_BYTES, bytesMax)];
    int length = 0;
    Optional<String> cut = Optional.empty();
    try {
      InputStream in = reply.body();
      while (true) {
        if (length == bytes.length && length < bytesMax) {
          bytes = Arrays.copyOf(bytes, (int) Math.min(bytesMax, 2L * length));
        }
        if (length == bytesMax) {
          if (in.read() >= 0) {
            cut = Optional.of("longer than " + bytesMax + " bytes");
          }
          break;
        }
        int count = in.read(bytes, length, bytes.length - length);
        if (count < 0) {
          break;
        }
        length += count;
      }
    } catch (IOException e) {
      cut = Optional.of(String.valueOf(explained.apply(e).getMessage()));
    }
    return new ProbeReply(
        reply.status(),
        reply.headers().first("content-type").orElse(""),
        Arrays.copyOf(bytes, length),
        cut);
  }

  public int status() {
    return status;
  }

  public String contentType() {
    return contentType;
  }

  public byte[] body() {
    return body;
  }

  /** Why this is not the whole reply; empty where it is. */
  public Optional<String> cut() {
    return cut;
  }
}
