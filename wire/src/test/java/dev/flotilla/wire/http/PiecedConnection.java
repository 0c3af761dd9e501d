package dev.flotilla.wire.http;

import dev.flotilla.wire.connection.Connection;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.IntSupplier;

/** A connection whose engine says given bytes in given pieces, and then ends it. */
final class PiecedConnection implements Connection {
  private final InputStream input;
  private final ByteArrayOutputStream sent = new ByteArrayOutputStream();
  private int writes;
  private boolean closed;

  /**
   * @param pieceBytes how many bytes the next read gives at most, at least 1
   */
  PiecedConnection(byte[] reply, IntSupplier pieceBytes) {
    ByteArrayInputStream whole = new ByteArrayInputStream(reply);
    this.input =
        new InputStream() {
          @Override
          public int read() {
            return whole.read();
          }

          @Override
          public int read(byte[] into, int offset, int length) {
            return whole.read(into, offset, Math.min(length, pieceBytes.getAsInt()));
          }
        };
  }

  PiecedConnection(byte[] reply) {
    this(reply, () -> Integer.MAX_VALUE);
  }

  /** Pieces that end at that place, and whatever follows. */
  static PiecedConnection cutAt(byte[] reply, int place) {
    int[] reads = {0};
    return new PiecedConnection(
        reply, () -> reads[0]++ == 0 ? Math.max(1, place) : Integer.MAX_VALUE);
  }

  String sent() {
    return sent.toString(java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  int writes() {
    return writes;
  }

  boolean closed() {
    return closed;
  }

  @Override
  public InputStream input() {
    return input;
  }

  @Override
  public OutputStream output() {
    return new OutputStream() {
      @Override
      public void write(int b) {
        sent.write(b);
        writes++;
      }

      @Override
      public void write(byte[] bytes, int offset, int length) throws IOException {
        if (closed) {
          throw new IOException("closed");
        }
        sent.write(bytes, offset, length);
        writes++;
      }
    };
  }

  @Override
  public void close() {
    closed = true;
  }
}
