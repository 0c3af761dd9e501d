package dev.flotilla.wire.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** The head of a reply, and its body as it comes. For the thread that made the exchange. */
public final class HttpReply {
  private final ReplyHead head;
  private final ReplyBody body;
  private final ReplyInput input;
  private final boolean keepAlive;

  HttpReply(ReplyHead head, ReplyBody body, ReplyInput input, boolean keepAlive) {
    this.head = head;
    this.body = body;
    this.input = input;
    this.keepAlive = keepAlive;
  }

  /** From 200 to 599. */
  public int status() {
    return head.status();
  }

  public HttpHeaders headers() {
    return head.headers();
  }

  /**
   * The body. A read returns at least one byte, and with it whatever else has already arrived and
   * fits, across the borders of chunks: one flush can carry it on. It throws {@link ReplyCutShort}
   * where the connection ends too early and {@link ReplyMalformed} where the framing is broken;
   * what came before either was handed out first. Closing it does nothing.
   */
  public InputStream body() {
    return body;
  }

  /**
   * The whole body.
   *
   * @throws ReplyMalformed if it is longer than that
   */
  public byte[] bytes(int bytesMax) throws IOException {
    int expected = Math.clamp(head.contentLength(), 1 << 10, 64 << 10);
    byte[] bytes = new byte[Math.min(expected, Math.max(bytesMax, 1))];
    int length = 0;
    while (true) {
      if (length == bytes.length) {
        int one = body.read();
        if (one < 0) {
          break;
        }
        if (length >= bytesMax) {
          throw new ReplyMalformed("the reply's body is longer than " + bytesMax + " bytes");
        }
        bytes = Arrays.copyOf(bytes, (int) Math.min(bytesMax, 2L * length));
        bytes[length++] = (byte) one;
        continue;
      }
      int count = body.read(bytes, length, bytes.length - length);
      if (count < 0) {
        break;
      }
      length += count;
    }
    return length == bytes.length ? bytes : Arrays.copyOf(bytes, length);
  }

  /**
   * Whether the connection can carry the next exchange: the body was read to its end, it ended
   * whole by its own framing, the engine keeps the connection, and nothing lies behind the reply.
   */
  public boolean reusable() {
    return keepAlive && body.endedWhole() && input.buffered() == 0;
  }
}
