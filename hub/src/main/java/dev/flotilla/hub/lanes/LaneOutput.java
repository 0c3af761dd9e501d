package dev.flotilla.hub.lanes;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/** Writes to an upgraded connection, each call at once and without a copy. */
final class LaneOutput extends OutputStream {
  private final DataWriter writer;

  LaneOutput(DataWriter writer) {
    this.writer = writer;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] source, int offset, int length) throws IOException {
    Objects.checkFromIndexSize(offset, length, source.length);
    if (length == 0) {
      return;
    }
    try {
      writer.writeNow(BufferData.createReadOnly(source, offset, length));
    } catch (RuntimeException e) {
      String why = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
      throw new IOException("the lane was torn" + (why == null ? "" : ": " + why), e);
    }
  }
}
