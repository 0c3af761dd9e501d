package dev.flotilla.wire.http;

import java.io.IOException;
import java.io.InputStream;

/**
 * What has arrived on a connection and was not consumed yet. One buffer, made once; it can hold the
 * longest line that is allowed, so a line is always seen whole where it lies.
 *
 * <p>A line ends with CR LF and with nothing else. RFC 9112 lets a reader take a bare LF for a line
 * end; this one refuses it, as it refuses a bare CR: whoever reads a reply differently from the one
 * who framed it reads another reply, and no engine that is known sends either.
 */
final class ReplyInput {
  private final InputStream in;
  final byte[] bytes;

  /** The first byte that is not consumed, and the end of what has arrived. */
  int from;

  int to;

  private boolean ended;
  private boolean arrived;

  ReplyInput(InputStream in, Http1Limits limits) {
    this.in = in;
    this.bytes =
        new byte
            [Math.max(
                limits.bufferBytes(),
                Math.max(limits.lineBytesMax(), limits.chunkLineBytesMax()) + 2)];
  }

  /** From now on a missing byte is one of a new reply. */
  void expectReply() {
    arrived = to > from;
  }

  int buffered() {
    return to - from;
  }

  boolean lineBuffered() {
    for (int i = from; i < to; i++) {
      if (bytes[i] == '\n') {
        return true;
      }
    }
    return false;
  }

  /**
   * Waits for more bytes.
   *
   * @return false where the connection has ended in good order
   */
  boolean fill() throws ReplyCutShort {
    if (from == to) {
      from = 0;
      to = 0;
    } else if (to == bytes.length) {
      System.arraycopy(bytes, from, bytes, 0, to - from);
      to -= from;
      from = 0;
    }
    int count = read(bytes, to, bytes.length - to);
    if (count > 0) {
      to += count;
    }
    return count > 0;
  }

  /** Reads past the buffer, which is empty. */
  int read(byte[] into, int offset, int length) throws ReplyCutShort {
    if (ended) {
      return -1;
    }
    int count;
    try {
      count = in.read(into, offset, length);
    } catch (IOException e) {
      throw new ReplyCutShort("the connection to the server failed", !arrived, e);
    }
    ended = count < 0;
    arrived |= count > 0;
    return count;
  }

  /**
   * Consumes one line and its end. The line then lies in {@link #bytes} from the returned place to
   * {@code from - 2}.
   */
  int line(int lengthMax, String what) throws ReplyMalformed, ReplyCutShort {
    int seen = 0;
    while (true) {
      for (; seen < to - from; seen++) {
        if (bytes[from + seen] == '\n') {
          return endLine(seen, lengthMax, what);
        }
        if (seen > lengthMax) {
          throw tooLong(lengthMax, what);
        }
      }
      if (!fill()) {
        throw cutShort();
      }
    }
  }

  private int endLine(int lineFeed, int lengthMax, String what) throws ReplyMalformed {
    int start = from;
    if (lineFeed == 0 || bytes[start + lineFeed - 1] != '\r') {
      throw new ReplyMalformed(what + " does not end with CR LF");
    }
    if (lineFeed - 1 > lengthMax) {
      throw tooLong(lengthMax, what);
    }
    for (int i = start; i < start + lineFeed - 1; i++) {
      if (bytes[i] == '\r') {
        throw new ReplyMalformed(what + " holds a bare CR");
      }
    }
    from = start + lineFeed + 1;
    return start;
  }

  ReplyCutShort cutShort() {
    return new ReplyCutShort(
        arrived
            ? "the server closed the connection in the middle of its reply"
            : "the server closed the connection without a reply",
        !arrived,
        null);
  }

  private static ReplyMalformed tooLong(int lengthMax, String what) {
    return new ReplyMalformed(what + " is longer than " + lengthMax + " bytes");
  }
}
