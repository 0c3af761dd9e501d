package dev.flotilla.engine.serve;

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
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection, between Helidon and the socket, for what Helidon does not tell a handler
 * and does not do.
 *
 * <ul>
 *   <li><b>The client is gone.</b> While a handler runs nobody reads the socket, and a client that
 *       leaves would be noticed only by a failing write, which an answer that comes whole never
 *       makes before its end. {@link #onEnd} lets a thread read ahead. The end of the stream runs
 *       the action; bytes are the next request, and are kept for it. At most one read ahead is
 *       under way, and it ends with the next bytes or with the connection.
 *   <li><b>The server stops.</b> {@link #cut} runs the same action; the handler tells its client.
 *   <li><b>A request that is refused before it was read.</b> A socket that is closed with bytes
 *       unread takes the reply back: so the rest is read and dropped for a moment.
 * </ul>
 *
 * <p>Invariants: the socket is read by one thread at a time, which holds {@code reading}; what was
 * read ahead is handed over before anything else is read.
 */
final class WatchedConnection
    implements ConnectionContext, ServerConnection, InterruptableTask<Void> {
  private static final ScopedValue<WatchedConnection> CURRENT = ScopedValue.newInstance();
  private static final Logger log = System.getLogger(WatchedConnection.class.getName());

  private final ConnectionContext context;
  private final Clients all;
  private final ServerConnection http;
  private final DataReader reader;
  private final ReentrantLock reading = new ReentrantLock();
  private byte @Nullable [] ahead;
  private boolean ended;

  /** Guarded by this, as the next two. */
  private Runnable end = WatchedConnection::nothing;

  private boolean isGone;
  private boolean isCut;
  private volatile boolean watched;

  /** From a request's head to its answer's end. */
  private volatile boolean busy;

  /** The next four are the connection's thread's alone. */
  private boolean bodyUnread;

  private boolean lingers;

  /** Whether the request is a HEAD. */
  private boolean lengthAlone;

  /** What has arrived of the head that is being read. */
  private long headBytes;

  WatchedConnection(ConnectionContext context, ServerConnectionSelector selector, Clients all) {
    this.context = context;
    this.all = all;
    this.reader = DataReader.create(this::next);
    this.http = selector.connection(this);
  }

  private static void nothing() {}

  /** The connection of the request that this thread handles. */
  static WatchedConnection current() {
    return CURRENT.get();
  }

  // ---- where a request stands

  /**
   * The head is read, a handler runs.
   *
   * @param lengthAlone whether the request is a HEAD, which has no body in its reply
   */
  void begun(boolean bodyFollows, boolean lengthAlone) {
    busy = true;
    this.lengthAlone = lengthAlone;
    bodyUnread = bodyFollows;
  }

  /** The body is read to its end. */
  void bodyRead() {
    bodyUnread = false;
  }

  /** Whether bytes of the request's body may be on their way. */
  boolean bodyUnread() {
    return bodyUnread;
  }

  /** Sends a whole reply, or to a HEAD how long its body would be. */
  void send(ServerResponse response, byte[] body) {
    if (lengthAlone) {
      response.headers().contentLength(body.length);
      response.send();
    } else {
      response.send(body);
    }
  }

  /** The request is answered. */
  void ended() {
    busy = false;
    headBytes = 0;
  }

  /** Whether more of a head has arrived than a head may have. */
  boolean headIsTooLarge() {
    return !busy && headBytes >= all.limits().headBytesMax();
  }

  /** Closes the connection once the reply of the request at hand is out. */
  void closeAfterReply() {
    http.close(false);
  }

  /** Before it closes, what the client still sends of a refused request is read and dropped. */
  void lingerAfterReply() {
    lingers = true;
  }

  private void linger() {
    Thread limit =
        Thread.ofVirtual()
            .name("client-linger")
            .start(() -> {
              try {
                Thread.sleep(all.limits().lingerTime());
                closeSocket();
              } catch (InterruptedException endedBefore) {
                // Nothing to close: the client has gone.
                return;
              }
            });
    while (next() != null) {
      // what nobody will look at
    }
    limit.interrupt();
  }

  /**
   * What to do when the client goes away or is cut before {@link #over}; at once where that has
   * happened.
   */
  void onEnd(Runnable action) {
    boolean now;
    synchronized (this) {
      end = action;
      now = isGone || isCut;
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

  /** Whether the server stops, and this request has to end. */
  synchronized boolean isCut() {
    return isCut;
  }

  /** The answer is over. */
  synchronized void over() {
    end = WatchedConnection::nothing;
  }

  /** The server stops: the request that runs here is to tell its client so, and to end. */
  void cut() {
    Runnable action;
    synchronized (this) {
      isCut = true;
      action = end;
    }
    action.run();
  }

  /** Closes, whatever goes on. */
  void closeSocket() {
    try {
      serverSocket().close();
    } catch (RuntimeException closedAlready) {
      log.log(Level.DEBUG, "a client's socket was closed already", closedAlready);
    }
  }

  // ---- reading

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
      action = end;
      end = WatchedConnection::nothing;
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
      } else if (!ended) {
        bytes = pull();
      }
      headBytes += bytes == null ? 0 : bytes.length;
      return bytes;
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
    all.add(this);
    try {
      ScopedValue.where(CURRENT, this)
          .call(() -> {
            http.handle(limit);
            return null;
          });
      if (lingers) {
        linger();
      }
    } finally {
      all.remove(this);
      wentAway();
    }
  }

  @Override
  public Duration idleTime() {
    return http.idleTime();
  }

  /** Helidon closes what is idle, and everything when it stops; a read ahead knows no interrupt. */
  @Override
  public void close(boolean interrupt) {
    http.close(interrupt);
    if (interrupt || !busy) {
      closeSocket();
    }
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
