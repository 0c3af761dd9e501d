package dev.flotilla.gguf;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Reads little-endian values of a file, one after another, through one buffer.
 *
 * <p>Not a memory map: a file that another process truncates while it is mapped kills the reader
 * with a fault that no code can catch; a read just comes to an end. Every length is compared with
 * what is left of the file before anything of that length is allocated.
 */
final class Cursor {
  private static final int BUFFER_BYTES = 1 << 16;

  private final Path path;
  private final FileChannel channel;
  private final long size;
  private final ByteBuffer buffer =
      ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
  private long bufferStart;

  Cursor(Path path, FileChannel channel) throws IOException {
    this.path = path;
    this.channel = channel;
    this.size = channel.size();
  }

  long size() {
    return size;
  }

  long position() {
    return bufferStart + buffer.position();
  }

  long remaining() {
    return size - position();
  }

  int u8() throws IOException, GgufRefused {
    need(1);
    return buffer.get() & 0xff;
  }

  int u16() throws IOException, GgufRefused {
    need(2);
    return buffer.getShort() & 0xffff;
  }

  int i32() throws IOException, GgufRefused {
    need(4);
    return buffer.getInt();
  }

  long i64() throws IOException, GgufRefused {
    need(8);
    return buffer.getLong();
  }

  /** Skips so many bytes that must be there. */
  void skip(long bytes, String what) throws GgufRefused {
    require(bytes, what);
    long target = position() + bytes;
    if (target <= bufferStart + buffer.limit()) {
      buffer.position((int) (target - bufferStart));
    } else {
      bufferStart = target;
      buffer.limit(0);
    }
  }

  /** Reads a string's length, which must fit the file and {@code bytesMax}. */
  int stringLength(String what, int bytesMax) throws IOException, GgufRefused {
    long length = i64();
    require(length, what);
    if (length > bytesMax) {
      throw new GgufRefused(
          path, "%s is %,d bytes long, at most %,d are read".formatted(what, length, bytesMax));
    }
    return (int) length;
  }

  String string(String what, int bytesMax) throws IOException, GgufRefused {
    return new String(bytes(stringLength(what, bytesMax)), StandardCharsets.UTF_8);
  }

  /** So many bytes, which must have been found to be in the file. */
  byte[] bytes(int count) throws IOException, GgufRefused {
    byte[] bytes = new byte[count];
    int done = 0;
    while (done < bytes.length) {
      if (!buffer.hasRemaining()) {
        need(1);
      }
      int part = Math.min(buffer.remaining(), bytes.length - done);
      buffer.get(bytes, done, part);
      done += part;
    }
    return bytes;
  }

  /** Checks that {@code bytes} more bytes are in the file. */
  void require(long bytes, String what) throws GgufRefused {
    if (bytes < 0 || bytes > remaining()) {
      throw new GgufRefused(
          path,
          "truncated or damaged: %s speaks of %s bytes at byte %,d, the file has %,d"
              .formatted(what, Long.toUnsignedString(bytes), position(), size));
    }
  }

  private void need(int bytes) throws IOException, GgufRefused {
    if (buffer.remaining() >= bytes) {
      return;
    }
    require(bytes, "the header");
    bufferStart = position();
    buffer.compact();
    // compact keeps the few bytes that are left at the front, so the read goes behind them
    while (buffer.position() < bytes) {
      if (channel.read(buffer, bufferStart + buffer.position()) < 0) {
        throw new EOFException("the file became shorter while it was read");
      }
    }
    buffer.flip();
  }
}
