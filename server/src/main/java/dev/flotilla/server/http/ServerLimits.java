package dev.flotilla.server.http;

import java.time.Duration;

/**
 * What a listener takes from clients.
 *
 * @param bodyBytesMax largest request body that is read
 * @param headBytesMax largest request head
 * @param headTime from a request's first byte to the end of its head
 * @param bodyTime for a request's body, and one second more for each 64 KiB that has arrived
 * @param writeTime how long a client may refuse to take what was written for it
 * @param idle how long a connection may wait for its next request
 * @param connectionsMax connections at once
 * @param lingerTime the rest of a refused body is read and dropped until nothing arrives for so
 *     long, for {@code bodyTime} at most, so that the client sees the refusal before the connection
 *     closes
 * @param partingTime how long a connection whose stream was cut stays open behind the error event,
 *     unless its client closes first: clients that find the end before they have read what came
 *     before it drop that
 * @param stopTime how long requests in flight may run on when the server stops
 * @param lastWords how long those that are cut then have to tell their clients
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

  /**
   * The defaults, as docs/limits.md has them, of a server that reads so much and has so many
   * connections.
   */
  public static ServerLimits of(long bodyBytesMax, int connectionsMax) {
    return new ServerLimits(
        bodyBytesMax,
        32 << 10,
        Duration.ofSeconds(15),
        Duration.ofSeconds(30),
        Duration.ofSeconds(60),
        Duration.ofMinutes(5),
        connectionsMax,
        Duration.ofSeconds(2),
        Duration.ofMillis(200),
        Duration.ofSeconds(3),
        Duration.ofMillis(500));
  }

  /** These limits with other times for a request to arrive. */
  public ServerLimits withRequestTimes(Duration head, Duration body) {
    return with(head, body, writeTime, partingTime, stopTime, lastWords);
  }

  /** These limits with another time for a client to take what was written. */
  public ServerLimits withWriteTime(Duration time) {
    return with(headTime, bodyTime, time, partingTime, stopTime, lastWords);
  }

  /** These limits with another time for a client to read that its stream was cut. */
  public ServerLimits withParting(Duration time) {
    return with(headTime, bodyTime, writeTime, time, stopTime, lastWords);
  }

  /** These limits with other times for a stop. */
  public ServerLimits withStop(Duration time, Duration words) {
    return with(headTime, bodyTime, writeTime, partingTime, time, words);
  }

  private ServerLimits with(
      Duration head,
      Duration body,
      Duration write,
      Duration parting,
      Duration stop,
      Duration words) {
    return new ServerLimits(
        bodyBytesMax,
        headBytesMax,
        head,
        body,
        write,
        idle,
        connectionsMax,
        lingerTime,
        parting,
        stop,
        words);
  }
}
