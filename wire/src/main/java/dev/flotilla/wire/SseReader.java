package dev.flotilla.wire;

import java.io.IOException;
import java.io.InputStream;

/** Splits a stream of server-sent events into whole events. */
@SuppressWarnings("DoNotCallSuggester")
public final class SseReader {
  /** Default limit of one event: 1 MiB. */
  public static final int EVENT_BYTES_MAX = 1 << 20;

  public SseReader(InputStream in, int eventBytesMax) {
    throw new UnsupportedOperationException(in.toString() + eventBytesMax);
  }

  /**
   * Moves to the next whole event; waits for it if need be. What the getters gave before is no
   * longer valid.
   *
   * @return false where the stream has ended; {@link #leftover()} says whether in mid-event
   * @throws ReplyMalformed if the event grows beyond the limit
   */
  public boolean next() throws IOException {
    throw new UnsupportedOperationException();
  }

  /** Whether another whole event has already arrived: the next {@link #next()} will not wait. */
  public boolean moreBuffered() {
    throw new UnsupportedOperationException();
  }

  /** The array in which the raw event lies. */
  public byte[] buffer() {
    throw new UnsupportedOperationException();
  }

  /** Where the raw event begins in {@link #buffer()}. */
  public int start() {
    throw new UnsupportedOperationException();
  }

  /** Bytes of the raw event, with the empty line that ends it. */
  public int length() {
    throw new UnsupportedOperationException();
  }

  /** Whether the event has data; one without is a comment that keeps the connection alive. */
  public boolean hasData() {
    throw new UnsupportedOperationException();
  }

  /**
   * The array in which the data lies: {@link #buffer()} unless the event has several data lines.
   */
  public byte[] dataBuffer() {
    throw new UnsupportedOperationException();
  }

  public int dataStart() {
    throw new UnsupportedOperationException();
  }

  public int dataLength() {
    throw new UnsupportedOperationException();
  }

  /** Whether the data is {@code [DONE]}, OpenAI's last event. */
  public boolean isDone() {
    throw new UnsupportedOperationException();
  }

  /** Whether the raw event is valid UTF-8. */
  public boolean validUtf8() {
    throw new UnsupportedOperationException();
  }

  /**
   * After {@link #next()} returned false: bytes of an event that never ended. {@link #buffer()},
   * {@link #start()} and {@link #length()} show them.
   */
  public int leftover() {
    throw new UnsupportedOperationException();
  }
}
