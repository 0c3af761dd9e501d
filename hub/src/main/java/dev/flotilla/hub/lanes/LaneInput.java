package dev.flotilla.hub.lanes;

import io.helidon.common.buffers.DataReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * The bytes of an upgraded connection. {@link #available} counts what the server has read and
 * nobody took yet, so that a reader can gather what has arrived without waiting. Bytes are copied
 * once, into the reader's array. For one reading thread at a time.
 */
final class LaneInput extends InputStream {
  private final DataReader reader;

  LaneInput(DataReader reader) {
    this.reader = reader;
  }

  @Override
  public int read() throws IOException {
    try {
      return reader.read() & 0xff;
    } catch (DataReader.InsufficientDataAvailableException _) {
      return -1;
    } catch (RuntimeException e) {
      throw torn(e);
    }
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, target.length);
    if (length == 0) {
      return 0;
    }
    try {
      reader.ensureAvailable();
      int count = Math.min(length, reader.available());
      return reader.readBuffer(count).read(target, offset, count);
    } catch (DataReader.InsufficientDataAvailableException _) {
      return -1;
    } catch (RuntimeException e) {
      throw torn(e);
    }
  }

  @Override
  public int available() {
    return reader.available();
  }

  /** The server wraps what its socket throws, and its own refusals to go on, in unchecked ones. */
  private static IOException torn(RuntimeException e) {
    String why = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
    return new IOException("the lane was torn" + (why == null ? "" : ": " + why), e);
  }
}
