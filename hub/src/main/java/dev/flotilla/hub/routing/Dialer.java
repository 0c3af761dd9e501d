package dev.flotilla.hub.routing;

import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import java.io.IOException;
import java.time.Duration;

/**
 * Gives connections to one target. Implemented over lanes for workers and over sockets for
 * backends.
 */
public interface Dialer {

  /**
   * A connection to the target, from the pool where one is idle.
   *
   * @param fresh whether a pooled connection must not be used: after a pooled one turned out to be
   *     dead
   * @param limit how long to wait at most, for a lane to be donated or a socket to connect
   * @throws IOException where none can be had; the message says why, in words for an error body
   */
  Lease dial(boolean fresh, Duration limit) throws IOException;

  /** A connection that is used for one request at a time. */
  interface Lease {
    Connection connection();

    /**
     * Whether the connection carried a request before: then a dead connection says nothing about
     * the target.
     */
    boolean reused();

    /**
     * The HTTP client that speaks through the connection. One that keeps it beside a pooled
     * connection spares a buffer per request.
     *
     * @param host value of the {@code Host} header
     */
    default Http1 http1(String host) {
      return new Http1(connection(), host, Http1Limits.DEFAULTS);
    }

    /**
     * Puts the connection back after a reply that ended framed whole. Otherwise close the
     * connection.
     */
    void keep();
  }
}
