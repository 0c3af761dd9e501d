package dev.flotilla.hub.lanes;

import io.helidon.common.buffers.DataReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of an upgraded connection. {@link #available} counts what the server has read and
 * nobody took yet, so that a reader can gather what has arrived without waiting. Bytes are copied
 * once, into the reader's array.
 *
 * <p>For one reading thread at a time, and one that {@linkplain #watch watches}: whoever reads
 * while it does waits until it is done, which it is with the first byte or the end.
 */
final class LaneInput extends InputStream {
  private final DataReader reader;
  private volatile @Nullable CountDownLatch watched;

  LaneInput(DataReader reader) {
    this.reader = reader;
  }

  /** The next read waits until {@link #watch} has returned. */
  void willWatch() {
    watched = new CountDownLatch(1);
  }

  /** Waits for the first byte, which stays unread, or the end. */
  void watch() throws IOException {
    try {
      reader.ensureAvailable();
    } catch (RuntimeException e) {
      throw torn(e);
    } finally {
      watchIsOver();
    }
  }

  /** Nobody watches any more: a read that waits for it goes on. */
  void watchIsOver() {
    CountDownLatch done = watched;
    if (done != null) {
      done.countDown();
    }
  }

  private void awaitWatch() throws IOException {
    CountDownLatch done = watched;
    if (done == null) {
      return;
    }
    try {
      done.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while reading from a lane", e);
    }
    watched = null;
  }

  @Override
  public int read() throws IOException {
    awaitWatch();
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
    awaitWatch();
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
    CountDownLatch done = watched;
    return done != null && done.getCount() > 0 ? 0 : reader.available();
  }

  /** The server wraps what its socket throws, and its own refusals to go on, in unchecked ones. */
  private static IOException torn(RuntimeException e) {
    String why = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
    return new IOException("the lane was torn" + (why == null ? "" : ": " + why), e);
  }
}
