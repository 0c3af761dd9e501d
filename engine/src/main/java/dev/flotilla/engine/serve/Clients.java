package dev.flotilla.engine.serve;

import dev.flotilla.wire.server.RunningRequests;
import io.helidon.common.buffers.BufferData;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All connections of clients, the one thread that looks after slow ones, and how their requests end
 * when the server does.
 *
 * <p><b>Slow clients.</b> While a head or a body is awaited anywhere the thread looks at all
 * connections each {@link #LOOK}; else it sleeps, until the next request's first byte wakes it. So
 * an idle server has no wake-ups, and a busy one at most those looks.
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

  private static final Duration LOOK = Duration.ofMillis(250);

  private final ServerConnectionSelector http;
  private final ServerLimits limits;
  private final LongSupplier nanoClock;
  private final Set<WatchedConnection> open = ConcurrentHashMap.newKeySet();
  private final RunningRequests requests = new RunningRequests();
  private volatile @Nullable Thread sweeper;
  private volatile boolean dozing;
  private volatile boolean closed;

  /** Connections of a protocol. */
  Clients(ServerConnectionSelector http, ServerLimits limits, LongSupplier nanoClock) {
    this.http = http;
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  /** Looks after slow clients until {@link #stop}. */
  void start() {
    sweeper = Thread.ofPlatform().daemon().name("clients").start(this::sweep);
  }

  private void sweep() {
    while (!closed) {
      if (look()) {
        LockSupport.parkNanos(this, LOOK.toNanos());
      } else {
        dozing = true;
        // What began before this thread said that it dozes has woken nobody.
        if (!look() && dozing && !closed) {
          LockSupport.park(this);
        }
        dozing = false;
      }
    }
  }

  /** Ends what is overdue; whether anything is awaited. */
  private boolean look() {
    boolean awaited = false;
    long now = nanos();
    for (WatchedConnection client : open) {
      awaited |= client.look(now);
    }
    return awaited;
  }

  /** Bytes of a request are awaited from now on. */
  void wake() {
    if (dozing) {
      dozing = false;
      LockSupport.unpark(sweeper);
    }
  }

  long nanos() {
    return nanoClock.getAsLong();
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
    closed = true;
    LockSupport.unpark(sweeper);
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
