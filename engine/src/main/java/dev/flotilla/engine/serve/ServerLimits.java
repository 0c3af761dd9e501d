package dev.flotilla.engine.serve;

import java.time.Duration;

/**
 * What the server takes in.
 *
 * @param bodyBytesMax bytes of one request's body
 * @param bodiesBytesMax bytes of all bodies that are read at a time
 * @param connectionsMax connections that are open at a time
 * @param idle how long a connection may have no request
 * @param keepAlive how long a stream is silent before it gets a comment that says that it lives
 * @param stopTime how long requests may go on when the server ends
 */
public record ServerLimits(
    int bodyBytesMax,
    long bodiesBytesMax,
    int connectionsMax,
    Duration idle,
    Duration keepAlive,
    Duration stopTime) {
  /** The defaults, as docs/limits.md has them. */
  public static final ServerLimits DEFAULT =
      new ServerLimits(
          16 << 20,
          16L << 20,
          2048,
          Duration.ofMinutes(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(2));
}
