package dev.flotilla.wire.http;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The body of one reply, taken out of its framing.
 *
 * <p>A read waits for its first byte only. Beyond that it takes what lies in the buffer already,
 * over as many chunks as there are, so that a relay writes and flushes once for all that arrived
 * together. A fault behind good bytes is kept until those were handed out: the reader gets the same
 * bytes and then the same fault however the network cut them up.
 */
final class ReplyBody extends InputStream {
  /** How the end of the body is known. */
  enum Framing {
    NONE,
    LENGTH,
    CHUNKED,
    CONNECTION_END
  }

  /** What is next on the wire; the last three are lines of the chunked framing. */
  private enum Next {
    BYTES,
    CHUNK_SIZE,
    CHUNK_END,
    TRAILER
  }

  /** Hexadecimal digits of a chunk's size that surely fit a long. */
  private static final int SIZE_DIGITS_MAX = 15;

  private final ReplyInput input;
  private final Http1Limits limits;
  private final Framing framing;
  private Next next;

  /** Bytes to come of the body or of the chunk; meaningless where the connection's end ends it. */
  private long remaining;

  private int trailerBytes;
  private boolean ended;
  private @Nullable IOException fault;

  ReplyBody(ReplyInput input, Http1Limits limits, Framing framing, long length) {
    this.input = input;
    this.limits = limits;
    this.framing = framing;
    this.remaining = length;
    this.next = framing == Framing.CHUNKED ? Next.CHUNK_SIZE : Next.BYTES;
    this.ended = framing == Framing.NONE || (framing == Framing.LENGTH && length == 0);
  }

  /** Whether the body came to its end by its own framing. */
  boolean endedWhole() {
    return ended && framing != Framing.CONNECTION_END;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, into.length);
    if (length == 0) {
      return 0;
    }
    if (fault != null) {
      throw fault;
    }
    int total = 0;
    try {
      while (!ended && total < length) {
        if (next == Next.BYTES) {
          if (total > 0 && input.buffered() == 0) {
            break;
          }
          total += bytes(into, offset + total, length - total);
        } else {
          if (total > 0 && !input.lineBuffered()) {
            break;
          }
          framingLine();
        }
      }
    } catch (IOException e) {
      fault = e;
      if (total == 0) {
        throw e;
      }
    }
    return total == 0 ? -1 : total;
  }

  @Override
  public int available() {
    if (ended || next != Next.BYTES) {
      return 0;
    }
    return framing == Framing.CONNECTION_END
        ? input.buffered()
        : (int) Math.min(input.buffered(), remaining);
  }

  private int bytes(byte[] into, int offset, int length) throws IOException {
    int wanted = framing == Framing.CONNECTION_END ? length : (int) Math.min(length, remaining);
    int count;
    if (input.buffered() == 0 && wanted >= input.bytes.length) {
      count = input.read(into, offset, wanted);
    } else {
      count = input.buffered() > 0 || input.fill() ? Math.min(wanted, input.buffered()) : -1;
      if (count > 0) {
        System.arraycopy(input.bytes, input.from, into, offset, count);
        input.from += count;
      }
    }
    if (count < 0) {
      if (framing != Framing.CONNECTION_END) {
        throw input.cutShort();
      }
      ended = true;
      return 0;
    }
    if (framing != Framing.CONNECTION_END) {
      remaining -= count;
      if (remaining == 0) {
        ended = framing == Framing.LENGTH;
        next = framing == Framing.CHUNKED ? Next.CHUNK_END : Next.BYTES;
      }
    }
    return count;
  }

  private void framingLine() throws IOException {
    switch (next) {
      case CHUNK_END -> {
        int start = input.line(limits.chunkLineBytesMax(), "a chunk");
        if (input.from - 2 != start) {
          throw new ReplyMalformed("a chunk is longer than its size says");
        }
        next = Next.CHUNK_SIZE;
      }
      case CHUNK_SIZE -> {
        int start = input.line(limits.chunkLineBytesMax(), "a chunk's size");
        remaining = chunkSize(input.bytes, start, input.from - 2);
        next = remaining == 0 ? Next.TRAILER : Next.BYTES;
      }
      case TRAILER -> {
        int start = input.line(limits.lineBytesMax(), "a trailer");
        int end = input.from - 2;
        trailerBytes += end - start + 2;
        if (trailerBytes > limits.trailerBytesMax()) {
          throw new ReplyMalformed(
              "the reply's trailers are longer than " + limits.trailerBytesMax() + " bytes");
        }
        if (start == end) {
          ended = true;
        } else {
          String name = ReplyHead.headerName(input.bytes, start, end, "a trailer");
          ReplyHead.headerValue(input.bytes, start + name.length() + 1, end, name);
        }
      }
      case BYTES -> throw new IllegalStateException("bytes are no line");
    }
  }

  private static long chunkSize(byte[] line, int start, int end) throws ReplyMalformed {
    long size = 0;
    int at = start;
    for (; at < end; at++) {
      int digit = Character.digit(line[at], 16);
      if (digit < 0) {
        break;
      }
      if (at - start == SIZE_DIGITS_MAX) {
        throw new ReplyMalformed("a chunk's size is beyond any size");
      }
      size = 16 * size + digit;
    }
    int extension = at;
    while (extension < end && (line[extension] == ' ' || line[extension] == '\t')) {
      extension++;
    }
    if (at == start || (at < end && (extension == end || line[extension] != ';'))) {
      throw new ReplyMalformed("a chunk's size is not a hexadecimal number");
    }
    return size;
  }
}
