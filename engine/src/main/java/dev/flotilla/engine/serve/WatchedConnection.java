package dev.flotilla.engine.serve;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection, between Helidon and the socket, so that a handler learns that its client
 * is gone: while a handler runs nobody reads the socket, and a client that leaves would be noticed
 * only by a failing write, which an answer that comes whole never makes before its end.
 *
 * <p>{@link #onGone} lets a thread read ahead. The end of the stream runs the action; bytes are the
 * next request, and are kept for it. At most one read ahead is under way, and it ends with the next
 * bytes or with the connection.
 *
 * <p>Invariants: the socket is read by one thread at a time, which holds {@code reading}; what was
 * read ahead is handed over before anything else is read.
 */
final class WatchedConnection
    implements ConnectionContext, ServerConnection, InterruptableTask<Void> {
  private static final ScopedValue<WatchedConnection> CURRENT = ScopedValue.newInstance();

  private final ConnectionContext context;
  private final ServerConnection http;
  private final DataReader reader;
  private final ReentrantLock reading = new ReentrantLock();
  private byte @Nullable [] ahead;
  private boolean ended;

  /** Guarded by this. */
  private Runnable gone = WatchedConnection::nothing;

  private boolean isGone;
  private volatile boolean watched;

  private WatchedConnection(ConnectionContext context, ServerConnectionSelector selector) {
    this.context = context;
    this.reader = DataReader.create(this::next);
    this.http = selector.connection(this);
  }

  private static void nothing() {}

  /** Connections of a protocol, watched. */
  static ServerConnectionSelector around(ServerConnectionSelector protocol) {
    return new ServerConnectionSelector() {
      @Override
      public int bytesToIdentifyConnection() {
        return protocol.bytesToIdentifyConnection();
      }

      @Override
      public Support supports(BufferData data) {
        return protocol.supports(data);
      }

      @Override
      public Set<String> supportedApplicationProtocols() {
        return protocol.supportedApplicationProtocols();
      }

      @Override
      public ServerConnection connection(ConnectionContext context) {
        return new WatchedConnection(context, protocol);
      }
    };
  }

  /** The connection of the request that this thread handles. */
  static WatchedConnection current() {
    return CURRENT.get();
  }

  /**
   * What to do when the client goes away before {@link #over}; at once where it is gone already.
   */
  void onGone(Runnable action) {
    boolean now;
    synchronized (this) {
      gone = action;
      now = isGone;
    }
    if (now) {
      action.run();
    } else if (!watched) {
      watched = true;
      Thread.ofVirtual().name("client-watch").start(this::readAhead);
    }
  }

  /** Whether the client is known to have gone. */
  synchronized boolean isGone() {
    return isGone;
  }

  /** The request has ended. */
  synchronized void over() {
    gone = WatchedConnection::nothing;
  }

  private void readAhead() {
    boolean over;
    reading.lock();
    try {
      if (ahead == null && !ended) {
        ahead = pull();
      }
      over = ended;
    } finally {
      reading.unlock();
    }
    if (over) {
      wentAway();
    }
  }

  private void wentAway() {
    Runnable action;
    synchronized (this) {
      isGone = true;
      action = gone;
      gone = WatchedConnection::nothing;
    }
    action.run();
  }

  private byte @Nullable [] next() {
    reading.lock();
    try {
      byte[] bytes = ahead;
      if (bytes != null) {
        ahead = null;
        watched = false;
        return bytes;
      }
      return ended ? null : pull();
    } finally {
      reading.unlock();
    }
  }

  private byte @Nullable [] pull() {
    byte[] bytes;
    try {
      bytes = context.serverSocket().get();
    } catch (RuntimeException broken) {
      bytes = null;
    }
    ended = bytes == null;
    return bytes;
  }

  // ---- Helidon's view

  @Override
  public void handle(Limit limit) throws InterruptedException {
    try {
      ScopedValue.where(CURRENT, this)
          .call(() -> {
            http.handle(limit);
            return null;
          });
    } finally {
      wentAway();
    }
  }

  @Override
  public Duration idleTime() {
    return http.idleTime();
  }

  @Override
  public void close(boolean interrupt) {
    http.close(interrupt);
  }

  @Override
  public boolean canInterrupt() {
    return !(http instanceof InterruptableTask<?> task) || task.canInterrupt();
  }

  @Override
  public DataReader dataReader() {
    return reader;
  }

  @Override
  public DataWriter dataWriter() {
    return context.dataWriter();
  }

  @Override
  public ListenerContext listenerContext() {
    return context.listenerContext();
  }

  @Override
  public ExecutorService executor() {
    return context.executor();
  }

  @Override
  public Router router() {
    return context.router();
  }

  @Override
  public Optional<ProxyProtocolData> proxyProtocolData() {
    return context.proxyProtocolData();
  }

  @Override
  public HelidonSocket serverSocket() {
    return context.serverSocket();
  }

  @Override
  public PeerInfo remotePeer() {
    return context.remotePeer();
  }

  @Override
  public PeerInfo localPeer() {
    return context.localPeer();
  }

  @Override
  public boolean isSecure() {
    return context.isSecure();
  }

  @Override
  public String socketId() {
    return context.socketId();
  }

  @Override
  public String childSocketId() {
    return context.childSocketId();
  }
}
