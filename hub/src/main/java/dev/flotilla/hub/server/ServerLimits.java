package dev.flotilla.hub.server;

import java.time.Duration;

/**
 * What the listener takes from clients.
 *
 * @param bodyBytesMax largest request body that any configuration can allow (default 64 MiB)
 * @param headBytesMax largest request head (default 32 KiB)
 * @param headTime from a request's first byte to the end of its head (default 15 s)
 * @param bodyTime for a request's body, and one second more for each 64 KiB that has arrived
 *     (default 30 s)
 * @param writeTime how long a client may refuse to take what was written for it (default 60 s)
 * @param idle how long a connection may wait for its next request (default 5 min)
 * @param connectionsMax connections at once, lanes included (default 10,000)
 * @param lingerTime how long the rest of a refused body is read and dropped, so that the client
 *     sees the refusal before the connection closes (default 2 s)
 * @param partingTime how long a connection whose stream was cut stays open behind the error event,
 *     unless its client closes first: clients that find the end before they have read what came
 *     before it drop that (default 200 ms)
 * @param stopTime how long requests in flight may run on when the hub stops (default 3 s)
 * @param lastWords how long those that are cut then have to tell their clients (default 500 ms)
 */
public record ServerLimits(
    long bodyBytesMax,
    int headBytesMax,
    Duration headTime,
    Duration bodyTime,
    Duration writeTime,
    Duration idle,
    int connectionsMax,
    Duration lingerTime,
    Duration partingTime,
    Duration stopTime,
    Duration lastWords) {

  /** The longest first line of a request, method and path and query together. */
  public static final int FIRST_LINE_BYTES_MAX = 8 << 10;

  public static final ServerLimits DEFAULTS =
      new ServerLimits(
          64L << 20,
          32 << 10,
          Duration.ofSeconds(15),
          Duration.ofSeconds(30),
          Duration.ofSeconds(60),
          Duration.ofMinutes(5),
          10_000,
          Duration.ofSeconds(2),
          Duration.ofMillis(200),
          Duration.ofSeconds(3),
          Duration.ofMillis(500));

  /** These limits with another time for a client to read that its stream was cut. */
  public ServerLimits withParting(Duration time) {
    return new ServerLimits(
        bodyBytesMax,
        headBytesMax,
        headTime,
        bodyTime,
        writeTime,
        idle,
        connectionsMax,
        lingerTime,
        time,
        stopTime,
        lastWords);
  }

  /** These limits with other times for a stop. */
  public ServerLimits withStop(Duration time, Duration words) {
    return new ServerLimits(
        bodyBytesMax,
        headBytesMax,
        headTime,
        bodyTime,
        writeTime,
        idle,
        connectionsMax,
        lingerTime,
        partingTime,
        time,
        words);
  }
}
