package dev.flotilla.wire.lanes;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lines of a control lane, each with a limit. Reads ahead, and holds at most one line and its
 * limit. For one thread.
 */
public final class LineReader {
  private static final int BUFFER_BYTES = 8 << 10;

  private final InputStream in;
  private final int lineBytesMax;
  private byte[] buffer;
  private int from;
  private int to;

  /**
   * @param lineBytesMax bytes of one line, its end included
   */
  public LineReader(InputStream in, int lineBytesMax) {
    this.in = in;
    this.lineBytesMax = lineBytesMax;
    this.buffer = new byte[Math.min(BUFFER_BYTES, lineBytesMax)];
  }

  /**
   * The next line without its end (LF, or CR LF); null where the stream has ended.
   *
   * @throws LaneMalformed if the line is longer than the limit, or the stream ends within a line
   */
  public byte @Nullable [] next() throws IOException {
    int seen = from;
    while (true) {
      for (; seen < to; seen++) {
        if (buffer[seen] == '\n') {
          int end = seen > from && buffer[seen - 1] == '\r' ? seen - 1 : seen;
          byte[] line = Arrays.copyOfRange(buffer, from, end);
          from = seen + 1;
          return line;
        }
      }
      seen -= from;
      makeRoom();
      int count = in.read(buffer, to, buffer.length - to);
      if (count < 0) {
        if (to > from) {
          throw new LaneMalformed("the lane ended within a line");
        }
        return null;
      }
      to += count;
    }
  }

  private void makeRoom() throws LaneMalformed {
    System.arraycopy(buffer, from, buffer, 0, to - from);
    to -= from;
    from = 0;
    if (to == buffer.length) {
      if (to == lineBytesMax) {
        throw new LaneMalformed("a line of the lane is longer than " + lineBytesMax + " bytes");
      }
      buffer = Arrays.copyOf(buffer, Math.min(lineBytesMax, 2 * buffer.length));
    }
  }
}
