package dev.flotilla.engine.serve;

import dev.flotilla.wire.server.HttpRefusals;
import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
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
 *   <li><b>A slow client.</b> A head or a body that takes longer than its limit is answered with a
 *       408, and the connection closes, whatever thread waits for it. {@link Clients} looks for
 *       such from its own thread.
 *   <li><b>A request that is refused before it was read.</b> A socket that is closed with bytes
 *       unread takes the reply back: so the rest is read and dropped for a moment.
 * </ul>
 *
 * <p>Phases: IDLE → HEAD (first byte of a request) → BODY (a handler runs and reads) → ANSWER (the
 * body is read) → IDLE. The connection's thread moves the phase; {@link Clients}' thread moves it
 * from HEAD or BODY to CUT, which is for ever.
 *
 * <p>Invariants: the socket is read by one thread at a time, which holds {@code reading}; what was
 * read ahead is handed over before anything else is read.
 */
final class WatchedConnection extends ContextAround
    implements ServerConnection, InterruptableTask<Void> {
  private enum Phase {
    IDLE,
    HEAD,
    BODY,
    ANSWER,
    CUT
  }

  private static final ScopedValue<WatchedConnection> CURRENT = ScopedValue.newInstance();
  private static final Logger log = System.getLogger(WatchedConnection.class.getName());

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

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.IDLE);

  /** When the head or the body has to be there, in those phases. */
  private volatile long dueNanos;

  /** The next four are the connection's thread's alone. */
  private boolean bodyUnread;

  private boolean lingers;

  /** Whether the request is a HEAD. */
  private boolean lengthAlone;

  /** What has arrived of the head that is being read. */
  private long headBytes;

  WatchedConnection(ConnectionContext context, ServerConnectionSelector selector, Clients all) {
    super(context);
    this.all = all;
    this.reader = DataReader.create(this::arriving);
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
    this.lengthAlone = lengthAlone;
    bodyUnread = bodyFollows;
    if (bodyFollows) {
      await(Phase.BODY, all.limits().bodyTime());
    } else {
      enter(Phase.ANSWER);
    }
  }

  /** More of the body has arrived: a large body may take longer. */
  void bodyArrived(long bytes) {
    long due = dueNanos;
    dueNanos = due + ((bytes * 1_000_000_000L) >> 16);
  }

  /** The body is read to its end. */
  void bodyRead() {
    bodyUnread = false;
    enter(Phase.ANSWER);
  }

  private void await(Phase next, Duration limit) {
    dueNanos = all.nanos() + limit.toNanos();
    enter(next);
    all.wake();
  }

  private void enter(Phase next) {
    phase.updateAndGet(now -> now == Phase.CUT ? now : next);
  }

  /** From a request's head to its answer's end. */
  private boolean busy() {
    Phase now = phase.get();
    return now == Phase.BODY || now == Phase.ANSWER;
  }

  /** Ends a request that is overdue; whether more of one is awaited. */
  boolean look(long now) {
    Phase seen = phase.get();
    if (seen != Phase.HEAD && seen != Phase.BODY) {
      return false;
    }
    if (now - dueNanos >= 0 && phase.compareAndSet(seen, Phase.CUT)) {
      // On a thread of its own, since a write may block.
      Thread.ofVirtual().name("slow-client").start(() -> tooSlow(seen));
    }
    return true;
  }

  /** Nobody else writes in these phases: the connection's own thread waits for bytes. */
  private void tooSlow(Phase slow) {
    byte[] reply =
        slow == Phase.HEAD
            ? HttpRefusals.slowHead(all.limits().headTime())
            : HttpRefusals.slowBody(all.limits().bodyTime());
    try {
      dataWriter().writeNow(BufferData.create(reply));
    } catch (RuntimeException goneAlready) {
      log.log(Level.DEBUG, "a slow client was gone before it could be told", goneAlready);
    }
    closeSocket();
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
    enter(Phase.IDLE);
    headBytes = 0;
  }

  /** Whether more of a head has arrived than a head may have. */
  boolean headIsTooLarge() {
    return !busy() && headBytes >= all.limits().headBytesMax();
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
    phase.set(Phase.CUT);
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

  /**
   * What arrives of requests. Their end is the end of the connection, wherever in a request it
   * comes: a client may leave, and what Helidon makes of a missing byte is a failure of the server.
   */
  private byte[] arriving() {
    byte[] bytes = next();
    if (bytes == null) {
      throw new CloseConnectionException("the client sends nothing more");
    }
    return bytes;
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
      if (bytes != null && phase.get() == Phase.IDLE) {
        await(Phase.HEAD, all.limits().headTime());
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
      bytes = serverSocket().get();
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
    if (interrupt || !busy()) {
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
}
