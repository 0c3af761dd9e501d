package dev.flotilla.server.http;

import dev.flotilla.server.http.ClientConnection.Again;
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
 * All connections of clients, and the one thread that looks after them.
 *
 * <p>The thread looks at every connection each 10 ms while requests come that are not watched yet,
 * and for a second after the last of them; then each 250 ms while one is under way, and else not at
 * all, until a request that begins wakes it. So an idle server has no wake-ups, and a busy one pays
 * for no more than those looks: waking a thread for each request would cost as much as relaying it.
 *
 * <p>The table holds a connection from the start of its handling to the end, whatever ends it, and
 * is bounded by {@link ServerLimits#connectionsMax}.
 */
final class ClientConnections implements ServerConnectionSelector, AutoCloseable {
  private static final Duration LOOK_SOON = Duration.ofMillis(10);

  private static final Duration LOOK_LATER = Duration.ofMillis(250);

  /** Looks that find no unwatched request before the thread lets itself be woken: one second. */
  private static final int QUIET_LOOKS = 100;

  /** How long a request runs before somebody watches whether its client is still there. */
  private static final Duration WATCH_AFTER = Duration.ofMillis(10);

  private final ServerConnectionSelector http;
  private final ServerLimits limits;
  private final LongSupplier nanoClock;
  private final Set<ClientConnection> open = ConcurrentHashMap.newKeySet();
  private final RunningRequests requests = new RunningRequests();
  private volatile @Nullable Thread sweeper;
  private volatile boolean dozing;
  private volatile boolean timeIsOver;
  private volatile boolean closed;

  ClientConnections(ServerConnectionSelector http, ServerLimits limits, LongSupplier nanoClock) {
    this.http = http;
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  ClientConnections start() {
    sweeper = Thread.ofPlatform().daemon().name("client-connections").start(this::sweep);
    return this;
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    ClientConnection client = new ClientConnection(context, this);
    client.speaks(http.connection(client));
    return client;
  }

  void add(ClientConnection client) {
    open.add(client);
  }

  void remove(ClientConnection client) {
    open.remove(client);
  }

  /** Connections that are open, lanes included. */
  int size() {
    return open.size();
  }

  ServerLimits limits() {
    return limits;
  }

  long nanos() {
    return nanoClock.getAsLong();
  }

  /** There may be something to look after. */
  void wake() {
    if (dozing) {
      dozing = false;
      LockSupport.unpark(sweeper);
    }
  }

  private void sweep() {
    int quiet = 0;
    while (!closed) {
      quiet = look() == Again.SOON ? 0 : quiet + 1;
      if (quiet < QUIET_LOOKS) {
        LockSupport.parkNanos(this, LOOK_SOON.toNanos());
      } else if (doze()) {
        quiet = 0;
      }
    }
  }

  /** Sleeps until something is due or begins; whether something began. */
  private boolean doze() {
    dozing = true;
    // What began before this thread said that it dozes has woken nobody.
    Again again = look();
    if (again == Again.NEVER && dozing && !closed) {
      LockSupport.park(this);
    } else if (again == Again.LATER && dozing && !closed) {
      LockSupport.parkNanos(this, LOOK_LATER.toNanos());
    }
    boolean woken = !dozing || again == Again.SOON;
    dozing = false;
    return woken;
  }

  private Again look() {
    Again soonest = Again.NEVER;
    long now = nanos();
    for (ClientConnection client : open) {
      Again again = client.look(now, WATCH_AFTER.toNanos());
      if (again.compareTo(soonest) < 0) {
        soonest = again;
      }
    }
    return soonest;
  }

  /** What runs. */
  RunningRequests requests() {
    return requests;
  }

  /**
   * Ends all requests: what is asked from now on is refused, what runs goes on for {@link
   * ServerLimits#stopTime}, and what is cut then has {@link ServerLimits#lastWords}. At once where
   * nothing runs.
   */
  void stop() {
    requests.stop();
    if (!requests.awaitNone(limits.stopTime())) {
      cutAll();
      requests.awaitNone(limits.lastWords());
    }
  }

  /** What still runs has had its time: it is cut, and each client is told. */
  private void cutAll() {
    timeIsOver = true;
    // Each on a thread of its own, since closing a connection may block.
    open.forEach(client -> Thread.ofVirtual().name("server-stop").start(client::cut));
  }

  boolean timeIsOver() {
    return timeIsOver;
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(sweeper);
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
