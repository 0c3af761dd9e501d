package dev.flotilla.hub.routing;

import dev.flotilla.wire.Connection;
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
     * Puts the connection back after a reply that ended framed whole. Otherwise close the
     * connection.
     */
    void keep();
  }
}
