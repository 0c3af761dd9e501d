package dev.flotilla.wire;

import java.io.IOException;
import java.util.Optional;

/** Control messages to and from lines of JSON. Immutable. */
@SuppressWarnings("DoNotCallSuggester")
public final class ControlCodec {
  /** A line, its end included: 1 MiB. */
  public static final int LINE_BYTES_MAX = 1 << 20;

  private ControlCodec() {}

  /**
   * The message as one line, with its line end.
   *
   * @throws IllegalArgumentException if the line would be longer than {@link #LINE_BYTES_MAX}
   */
  public static byte[] encode(ControlMessage message) {
    throw new UnsupportedOperationException(message.toString());
  }

  /**
   * The message of one line, without its line end; empty where its {@code type} is not known here.
   *
   * @throws LaneMalformed if the line is no message
   */
  public static Optional<ControlMessage> decode(byte[] line) throws IOException {
    throw new UnsupportedOperationException("" + line.length);
  }
}
