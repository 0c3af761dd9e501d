package dev.flotilla.bench.load;

import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * The connections of one run: one for each request under way, used again by the next one where both
 * ends keep it. There are never more than there were requests under way at once.
 *
 * <p>Invariants: a connection is in one hand at a time; each that stands is known, so that {@link
 * #close()} ends them all, from any thread, and with them whatever waits at one. After it nothing
 * is handed out.
 */
final class Connections implements AutoCloseable {
  private final ServerUnderTest server;
  private final LoadLimits limits;
  private final boolean keepAlive;
  private final Set<Http1> standing = ConcurrentHashMap.newKeySet();
  private final ConcurrentLinkedDeque<Http1> idle = new ConcurrentLinkedDeque<>();
  private volatile boolean closed;

  Connections(ServerUnderTest server, LoadLimits limits, boolean keepAlive) {
    this.server = server;
    this.limits = limits;
    this.keepAlive = keepAlive;
  }

  /**
   * A connection in the hand of one request.
   *
   * @param used whether it stood before: then the server may have closed it meanwhile
   */
  record Lease(Http1 http, boolean used) {}

  /** The connection that was used last, else a new one. */
  Lease take() throws IOException {
    Http1 last = idle.pollFirst();
    return last != null ? new Lease(last, true) : dial();
  }

  /** A new connection. */
  Lease dial() throws IOException {
    Connection connection = server.connect(limits.connect());
    Http1 http = new Http1(connection, server.hostHeader(), Http1Limits.DEFAULTS);
    standing.add(http);
    if (closed) {
      end(http);
      throw new IOException("the run was ended");
    }
    return new Lease(http, false);
  }

  /** Dials one, so that it stands when it is needed. */
  void prepare() throws IOException {
    idle.addFirst(dial().http());
  }

  /** The reply was read to its end. */
  void giveBack(Lease lease, boolean reusable) {
    if (keepAlive && reusable && !closed) {
      idle.addFirst(lease.http());
    } else {
      end(lease.http());
    }
  }

  void end(Http1 http) {
    standing.remove(http);
    http.close();
  }

  @Override
  public void close() {
    closed = true;
    standing.forEach(this::end);
  }
}
