package dev.flotilla.engine.serve;

import dev.flotilla.wire.server.RunningRequests;
import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All connections of clients, and how their requests end when the server does.
 *
 * <p><b>The stop.</b> From its beginning nothing is taken in: who asks is refused, on connections
 * that are there and on new ones. What runs goes on for {@link ServerLimits#stopTime}; then it is
 * cut, and its client has {@link #LAST_WORDS} to be told so, in the stream where one has begun.
 * After that every connection is closed. Where nothing runs, none of this takes any time.
 *
 * <p>Invariant: the table holds a connection from the start of its handling to the end.
 */
final class Clients implements ServerConnectionSelector {
  /** For the error that ends what was cut. */
  static final Duration LAST_WORDS = Duration.ofMillis(500);

  private final ServerConnectionSelector http;
  private final ServerLimits limits;
  private final Set<WatchedConnection> open = ConcurrentHashMap.newKeySet();
  private final RunningRequests requests = new RunningRequests();

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

  /** What runs. */
  RunningRequests requests() {
    return requests;
  }

  /** Ends all requests and connections, within the limits. */
  void stop() {
    requests.stop();
    if (!requests.awaitNone(limits.stopTime())) {
      open.forEach(WatchedConnection::cut);
      requests.awaitNone(LAST_WORDS);
    }
    open.forEach(WatchedConnection::closeSocket);
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
