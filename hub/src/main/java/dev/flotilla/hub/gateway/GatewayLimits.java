package dev.flotilla.hub.gateway;

import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.http.SseReader;
import java.time.Duration;

/**
 * What one request may take.
 *
 * @param connect for a connection to a target: a socket's dial, or the wait for a lane (default 5
 *     s)
 * @param stream time limits of a streamed reply (default 10 min to the first event, 60 s between
 *     events, 1 h in all)
 * @param whole time limits of a reply in one piece: an engine may say nothing until it is done
 *     (default 1 h in all)
 * @param drain how long the end of a connection's framing is awaited after {@code [DONE]}, so that
 *     the connection can be used again (default 250 ms)
 * @param requestsPerKey requests of one client key that may be open at once, waiting ones included
 *     (default 1,024)
 * @param attemptsMax targets that one request is sent to, one after the other (default 3)
 * @param runsMax of those, how many may have begun to work on it when they failed: a request that
 *     kills its worker is not run again and again (default 2)
 * @param eventBytesMax one event of a stream (default 1 MiB)
 * @param replyBytesMax a reply in one piece (default 64 MiB)
 * @param errorBytesMax an engine's error body (default 64 KiB)
 * @param bodyBytesTotalMax all request bodies in memory together (default a quarter of the heap)
 * @param namesShown known models in an error about an unknown one (default 10)
 * @param countBytesMax a longer prompt is not counted beforehand (default 4 MiB)
 * @param count time limit of counting a prompt (default 5 s)
 */
public record GatewayLimits(
    Duration connect,
    DeadlineLimits stream,
    DeadlineLimits whole,
    DeadlineLimits drain,
    int requestsPerKey,
    int attemptsMax,
    int runsMax,
    int eventBytesMax,
    int replyBytesMax,
    int errorBytesMax,
    long bodyBytesTotalMax,
    int namesShown,
    int countBytesMax,
    DeadlineLimits count) {

  public static final GatewayLimits DEFAULTS =
      new GatewayLimits(
          Duration.ofSeconds(5),
          DeadlineLimits.DEFAULTS,
          of(Duration.ofHours(1)),
          of(Duration.ofMillis(250)),
          1_024,
          3,
          2,
          SseReader.EVENT_BYTES_MAX,
          64 << 20,
          64 << 10,
          Runtime.getRuntime().maxMemory() / 4,
          10,
          4 << 20,
          of(Duration.ofSeconds(5)));

  private static DeadlineLimits of(Duration all) {
    return new DeadlineLimits(all, all, all);
  }

  /** These limits with other times for streams. */
  public GatewayLimits withStream(DeadlineLimits times) {
    return new GatewayLimits(
        connect,
        times,
        whole,
        drain,
        requestsPerKey,
        attemptsMax,
        runsMax,
        eventBytesMax,
        replyBytesMax,
        errorBytesMax,
        bodyBytesTotalMax,
        namesShown,
        countBytesMax,
        count);
  }

  /** These limits with another bound on the open requests of one key. */
  public GatewayLimits withRequestsPerKey(int requests) {
    return new GatewayLimits(
        connect,
        stream,
        whole,
        drain,
        requests,
        attemptsMax,
        runsMax,
        eventBytesMax,
        replyBytesMax,
        errorBytesMax,
        bodyBytesTotalMax,
        namesShown,
        countBytesMax,
        count);
  }
}
