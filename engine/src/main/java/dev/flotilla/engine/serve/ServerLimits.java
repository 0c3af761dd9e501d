package dev.flotilla.engine.serve;

import java.time.Duration;

/**
 * What the server takes in.
 *
 * @param bodyBytesMax bytes of one request's body
 * @param bodiesBytesMax bytes of all bodies that are read at a time
 * @param headBytesMax bytes of one request's head
 * @param headTime from a request's first byte to the end of its head
 * @param bodyTime for a request's body, and one second more for each 64 KiB that has arrived
 * @param connectionsMax connections that are open at a time
 * @param idle how long a connection may have no request
 * @param keepAlive how long a stream is silent before it gets a comment that says that it lives
 * @param lingerTime how long the rest of a refused body is read and dropped, so that the client
 *     sees the refusal before the connection closes
 * @param stopTime how long requests may go on when the server ends
 */
public record ServerLimits(
    int bodyBytesMax,
    long bodiesBytesMax,
    int headBytesMax,
    Duration headTime,
    Duration bodyTime,
    int connectionsMax,
    Duration idle,
    Duration keepAlive,
    Duration lingerTime,
    Duration stopTime) {
  /** The longest first line of a request, method and path and query together. */
  public static final int FIRST_LINE_BYTES_MAX = 8 << 10;

  /** The defaults, as docs/limits.md has them. */
  public static final ServerLimits DEFAULT =
      new ServerLimits(
          16 << 20,
          16L << 20,
          32 << 10,
          Duration.ofSeconds(15),
          Duration.ofSeconds(30),
          2048,
          Duration.ofMinutes(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofSeconds(3));
}
