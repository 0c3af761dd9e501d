package dev.flotilla.wire.http;

import dev.flotilla.wire.text.Utf8;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Splits a stream of server-sent events into whole events, by the WHATWG's grammar: lines end with
 * LF, CR LF or CR, an empty line ends an event, several {@code data} lines are joined by LF, a line
 * that begins with a colon is a comment.
 *
 * <p>An event lies where it was read: the getters give an array and places in it, valid until the
 * next {@link #next()}. Only the data of an event with several data lines is copied. The buffer
 * begins at 4 KiB, since many streams of small events may begin at once, and grows: to 16 KiB where
 * more had arrived than one read could take, and up to the limit of one event where that is longer;
 * each byte is looked at once, however the network cuts the stream up. Empty lines between events
 * are dropped. An event that ends with a bare CR is given out at once; if a LF follows later, it is
 * dropped.
 *
 * <p>Invariant: {@code start <= start + length <= scanned <= filled}; the current event lies before
 * {@code scanned}, the one that is being put together begins at {@code pending}. For one thread.
 */
public final class SseReader {
  /** Default limit of one event: 1 MiB. */
  public static final int EVENT_BYTES_MAX = 1 << 20;

  private static final int FIRST_BUFFER_BYTES = 4 << 10;
  private static final int FAST_BUFFER_BYTES = 16 << 10;

  private final InputStream in;
  private final int eventBytesMax;
  private byte[] buffer;
  private int filled;
  private boolean ended;

  /** The last read filled what room there was: more may have arrived than it could take. */
  private boolean crammed;

  // The event that the getters show.
  private int start;
  private int length;
  private int dataLines;
  private int dataStart;
  private int dataLength;
  private byte[] joined = new byte[0];
  private boolean dataJoined;

  // The event that is being put together: lies from pending on, is looked at up to scanned.
  private int pending;
  private int scanned;
  private int lineStart;
  private int pendingDataLines;
  private int pendingDataStart;
  private int pendingDataLength;
  private byte[] pendingJoined = new byte[0];
  private boolean pendingWhole;
  private boolean dropLineFeed;
  private boolean atStreamStart = true;

  /**
   * @param eventBytesMax bytes of one event, its line ends included
   */
  public SseReader(InputStream in, int eventBytesMax) {
    this.in = in;
    this.eventBytesMax = eventBytesMax;
    this.buffer = new byte[(int) Math.min(FIRST_BUFFER_BYTES, eventBytesMax + 1L)];
  }

  /**
   * Moves to the next whole event; waits for it if need be. What the getters gave before is no
   * longer valid.
   *
   * @return false where the stream has ended; {@link #leftover()} says whether in mid-event
   * @throws ReplyMalformed if the event grows beyond the limit
   */
  public boolean next() throws IOException {
    while (!scan()) {
      if (scanned - pending > eventBytesMax) {
        throw tooLong();
      }
      if (ended || !fill()) {
        ended = true;
        start = pending;
        length = filled - pending;
        dataLines = 0;
        dataLength = 0;
        return false;
      }
    }
    if (scanned - pending > eventBytesMax) {
      throw tooLong();
    }
    start = pending;
    length = scanned - pending;
    dataLines = pendingDataLines;
    dataJoined = pendingDataLines > 1;
    dataStart = dataJoined ? 0 : pendingDataStart;
    dataLength = pendingDataLength;
    if (dataJoined) {
      byte[] spare = joined;
      joined = pendingJoined;
      pendingJoined = spare;
    }
    pending = scanned;
    beginEvent();
    return true;
  }

  /** Whether another whole event has already arrived: the next {@link #next()} will not wait. */
  public boolean moreBuffered() {
    return scan();
  }

  /** The array in which the raw event lies. */
  public byte[] buffer() {
    return buffer;
  }

  /** Where the raw event begins in {@link #buffer()}. */
  public int start() {
    return start;
  }

  /** Bytes of the raw event, with the empty line that ends it. */
  public int length() {
    return length;
  }

  /** Whether the event has data; one without is a comment that keeps the connection alive. */
  public boolean hasData() {
    return dataLines > 0;
  }

  /** Whether the event has several data lines, so that its data is a copy joined by LF. */
  public boolean dataJoined() {
    return dataJoined;
  }

  /**
   * The array in which the data lies: {@link #buffer()} unless the event has several data lines.
   */
  public byte[] dataBuffer() {
    return dataJoined ? joined : buffer;
  }

  /** Where the data begins in {@link #dataBuffer()}. */
  public int dataStart() {
    return dataStart;
  }

  /** Bytes of the data. */
  public int dataLength() {
    return dataLength;
  }

  /** Whether the data is {@code [DONE]}, OpenAI's last event. */
  public boolean isDone() {
    byte[] data = dataBuffer();
    return dataLength == 6
        && data[dataStart] == '['
        && data[dataStart + 1] == 'D'
        && data[dataStart + 2] == 'O'
        && data[dataStart + 3] == 'N'
        && data[dataStart + 4] == 'E'
        && data[dataStart + 5] == ']';
  }

  /** Whether the raw event is valid UTF-8. */
  public boolean validUtf8() {
    return Utf8.isValid(buffer, start, length);
  }

  /**
   * Bytes that arrived after the last whole event. Once {@link #next()} returned false they are an
   * event that never ended, and {@link #buffer()}, {@link #start()} and {@link #length()} show
   * them.
   */
  public int leftover() {
    return scan() ? 0 : filled - pending;
  }

  private ReplyMalformed tooLong() {
    return new ReplyMalformed("an event of the reply is longer than " + eventBytesMax + " bytes");
  }

  private boolean fill() throws IOException {
    if (pending == filled || pending > buffer.length / 2) {
      shiftToFront();
    } else if (filled == buffer.length) {
      if (pending > 0) {
        shiftToFront();
      } else {
        grow();
      }
    }
    if (crammed && buffer.length < FAST_BUFFER_BYTES) {
      grow();
    }
    int room = buffer.length - filled;
    int count = in.read(buffer, filled, room);
    crammed = count == room;
    if (count > 0) {
      filled += count;
    }
    return count > 0;
  }

  private void grow() {
    // One byte above the limit is enough to see that an event is broken.
    buffer = Arrays.copyOf(buffer, (int) Math.min(eventBytesMax + 1L, 2L * buffer.length));
  }

  /** Moves the pending bytes to the front of the buffer; the current event is over by then. */
  private void shiftToFront() {
    int by = pending;
    System.arraycopy(buffer, by, buffer, 0, filled - by);
    pending = 0;
    filled -= by;
    scanned -= by;
    lineStart -= by;
    pendingDataStart -= by;
  }

  private void beginEvent() {
    lineStart = scanned;
    pendingDataLines = 0;
    pendingDataStart = scanned;
    pendingDataLength = 0;
    pendingWhole = false;
  }

  /** Looks at what has arrived, up to the end of the pending event: whether it is whole. */
  private boolean scan() {
    byte[] bytes = buffer;
    int end = filled;
    int at = scanned;
    if (dropLineFeed && at < end) {
      // The CR before it has already ended the line.
      dropLineFeed = false;
      if (bytes[at] == '\n') {
        at++;
        lineStart = at;
        if (at - 1 == pending) {
          pending = at;
        }
      }
    }
    while (!pendingWhole && at < end) {
      byte b = bytes[at++];
      if (b > '\r' || (b != '\n' && b != '\r')) {
        continue;
      }
      int lineEnd = at - 1;
      if (b == '\r') {
        if (at == end) {
          dropLineFeed = true;
        } else if (bytes[at] == '\n') {
          at++;
        }
      }
      scanned = at;
      line(lineEnd);
    }
    scanned = at;
    return pendingWhole;
  }

  private void line(int lineEnd) {
    int from = lineStart;
    if (atStreamStart) {
      atStreamStart = false;
      if (lineEnd - from >= 3
          && buffer[from] == (byte) 0xef
          && buffer[from + 1] == (byte) 0xbb
          && buffer[from + 2] == (byte) 0xbf) {
        from += 3;
      }
    }
    if (from == lineEnd) {
      if (lineStart == pending) {
        pending = scanned;
      } else {
        pendingWhole = true;
      }
    } else if (lineEnd - from >= 4
        && buffer[from] == 'd'
        && buffer[from + 1] == 'a'
        && buffer[from + 2] == 't'
        && buffer[from + 3] == 'a'
        && (lineEnd - from == 4 || buffer[from + 4] == ':')) {
      int value = Math.min(from + 5, lineEnd);
      if (value < lineEnd && buffer[value] == ' ') {
        value++;
      }
      data(value, lineEnd - value);
    }
    lineStart = scanned;
  }

  private void data(int from, int count) {
    pendingDataLines++;
    if (pendingDataLines == 1) {
      pendingDataStart = from;
      pendingDataLength = count;
      return;
    }
    int whole = pendingDataLength + 1 + count;
    if (pendingJoined.length < whole) {
      pendingJoined = Arrays.copyOf(pendingJoined, Math.max(whole, 2 * pendingJoined.length));
    }
    if (pendingDataLines == 2) {
      System.arraycopy(buffer, pendingDataStart, pendingJoined, 0, pendingDataLength);
    }
    pendingJoined[pendingDataLength] = '\n';
    System.arraycopy(buffer, from, pendingJoined, pendingDataLength + 1, count);
    pendingDataLength = whole;
  }
}
