package dev.flotilla.engine.serve;

import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * All connections of clients, and how their requests end when the server does.
 *
 * <p><b>The stop.</b> From its beginning nothing is taken in: who asks is refused, on connections
 * that are there and on new ones. What runs goes on for {@link ServerLimits#stopTime}; then it is
 * cut, and its client has {@link #LAST_WORDS} to be told so, in the stream where one has begun.
 * After that every connection is closed. Where nothing runs, none of this takes any time.
 *
 * <p>Invariants: a request is counted as running from {@link #enter} to {@link #leave}; once the
 * stop has begun none enters; the table holds a connection from the start of its handling to the
 * end.
 */
final class Clients implements ServerConnectionSelector {
  /** For the error that ends what was cut. */
  static final Duration LAST_WORDS = Duration.ofMillis(500);

  private final ServerConnectionSelector http;
  private final ServerLimits limits;
  private final Set<WatchedConnection> open = ConcurrentHashMap.newKeySet();

  /** Guarded by this, as the next. */
  private int running;

  private boolean stopping;

  /** Connections of a protocol. */
  Clients(ServerConnectionSelector http, ServerLimits limits) {
    this.http = http;
    this.limits = limits;
  }

  ServerLimits limits() {
    return limits;
  }

  void add(WatchedConnection client) {
    open.add(client);
  }

  void remove(WatchedConnection client) {
    open.remove(client);
  }

  /** A request begins to run; false where the server stops. */
  synchronized boolean enter() {
    if (stopping) {
      return false;
    }
    running++;
    return true;
  }

  /** A request that was let in has been answered. */
  synchronized void leave() {
    running--;
    notifyAll();
  }

  synchronized boolean stopping() {
    return stopping;
  }

  /** Ends all requests and connections, within the limits. */
  void stop() {
    synchronized (this) {
      stopping = true;
    }
    awaitNone(limits.stopTime());
    open.forEach(WatchedConnection::cut);
    awaitNone(LAST_WORDS);
    open.forEach(WatchedConnection::closeSocket);
  }

  private synchronized void awaitNone(Duration atMost) {
    long due = System.nanoTime() + atMost.toNanos();
    try {
      for (long left = atMost.toNanos(); running > 0 && left > 0; left = due - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    return new WatchedConnection(context, http, this);
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return http.supports(data);
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http.supportedApplicationProtocols();
  }
}
