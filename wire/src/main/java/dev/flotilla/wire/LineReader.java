package dev.flotilla.wire;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** Lines of a control lane, each with a limit. For one thread. */
@SuppressWarnings("DoNotCallSuggester")
public final class LineReader {
  private final InputStream in;
  private final int lineBytesMax;

  public LineReader(InputStream in, int lineBytesMax) {
    this.in = in;
    this.lineBytesMax = lineBytesMax;
  }

  /**
   * The next line without its end; null where the stream has ended.
   *
   * @throws LaneMalformed if the line is longer than the limit, or the stream ends within a line
   */
  public byte @Nullable [] next() throws IOException {
    throw new UnsupportedOperationException(in.toString() + lineBytesMax);
  }
}
