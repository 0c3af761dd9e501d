package dev.flotilla.agent.lanes;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;

/**
 * A buffer before a connection, for what is read by the byte. Where it is empty, a read of more
 * than its size passes it by, so that copying pays nothing; and no read asks how much more there
 * is, as {@link java.io.BufferedInputStream} does with a system call after each. For one thread.
 */
final class ReadAhead extends FilterInputStream {
  private final byte[] buffer;
  private int from;
  private int to;

  ReadAhead(InputStream in, int bytes) {
    super(in);
    this.buffer = new byte[bytes];
  }

  @Override
  public int read() throws IOException {
    return awaitByte() ? buffer[from++] & 0xff : -1;
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (from == to && length >= buffer.length) {
      return in.read(target, offset, length);
    }
    if (length > 0 && !awaitByte()) {
      return -1;
    }
    int count = Math.min(length, to - from);
    System.arraycopy(buffer, from, target, offset, count);
    from += count;
    return count;
  }

  /** Waits for the next byte, which stays unread; false where the end came instead. */
  boolean awaitByte() throws IOException {
    return from < to || fill();
  }

  /** What was read ahead; it is not here any more. */
  byte[] take() {
    byte[] left = Arrays.copyOfRange(buffer, from, to);
    from = to;
    return left;
  }

  private boolean fill() throws IOException {
    from = 0;
    to = Math.max(0, in.read(buffer, 0, buffer.length));
    return to > 0;
  }

  @Override
  public long skip(long count) throws IOException {
    int skipped = (int) Math.min(Math.max(count, 0), to - from);
    from += skipped;
    return skipped;
  }

  @Override
  public int available() throws IOException {
    return to - from + in.available();
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
