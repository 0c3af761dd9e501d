package dev.flotilla.bench.load;

import java.time.Duration;

/**
 * What a request of the load may take at most. What goes beyond one of these is a failed request
 * that says so, never a run that hangs.
 *
 * @param connect a new connection, and as much again for the handshake of TLS (default 10 s)
 * @param firstOutput from the request's last byte to its first output: queueing and the whole
 *     prefill lie in it (default 10 min)
 * @param gap silence between two pieces of a reply (default 5 min)
 * @param whole from the start of a request to its end (default 1 h)
 * @param replyBytesMax bytes of a reply's body (default 64 MiB)
 * @param textBytesMax of those, bytes of text that are kept (default 1 MiB)
 * @param eventBytesMax one event of a stream (default 4 MiB)
 * @param errorBytesMax what is read of an error's body (default 64 KiB)
 */
public record LoadLimits(
    Duration connect,
    Duration firstOutput,
    Duration gap,
    Duration whole,
    int replyBytesMax,
    int textBytesMax,
    int eventBytesMax,
    int errorBytesMax) {

  public static final LoadLimits DEFAULTS =
      new LoadLimits(
          Duration.ofSeconds(10),
          Duration.ofMinutes(10),
          Duration.ofMinutes(5),
          Duration.ofHours(1),
          64 << 20,
          1 << 20,
          4 << 20,
          64 << 10);

  public LoadLimits {
    for (Duration limit : new Duration[] {connect, firstOutput, gap, whole}) {
      if (limit.isNegative() || limit.isZero()) {
        throw new IllegalArgumentException("a time limit of a request is above zero");
      }
    }
    if (replyBytesMax < 1 || textBytesMax < 1 || eventBytesMax < 1 || errorBytesMax < 1) {
      throw new IllegalArgumentException("a limit of size is above zero");
    }
  }

  /** These limits with other times. */
  public LoadLimits within(Duration toFirstOutput, Duration between, Duration inAll) {
    return new LoadLimits(
        connect,
        toFirstOutput,
        between,
        inAll,
        replyBytesMax,
        textBytesMax,
        eventBytesMax,
        errorBytesMax);
  }
}
