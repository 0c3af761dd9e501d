package dev.flotilla.server.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.common.task.InterruptableTask;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http.ServerResponse;
import io.helidon.webserver.spi.ServerConnection;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One client's connection: lies between Helidon and the socket, so that a server knows what Helidon
 * does not tell a handler.
 *
 * <ul>
 *   <li><b>The client went away.</b> While a handler runs, nobody reads the socket, and a client
 *       that leaves is noticed only by a failing write, which a silent engine never causes. So for
 *       a request that runs longer than a moment a thread reads ahead; the end of the stream runs
 *       what {@link #onCut} was given. Bytes that come instead are the next request and are kept
 *       for it.
 *   <li><b>The server stops.</b> What still runs when the time for that is over is cut in the same
 *       way, while its client is there to be told.
 *   <li><b>A slow client.</b> A head or a body that takes longer than its limit is answered with a
 *       408, and the connection closes, whatever thread waits for it.
 *   <li><b>A client that does not read.</b> A write that waits longer than its limit is cut.
 *   <li><b>A request that is refused before it was read.</b> What is still on its way of it is read
 *       and dropped for a moment, since a socket that is closed with bytes unread takes the reply
 *       back.
 *   <li><b>The end.</b> {@link #closeAfterReply} closes once the reply is out: Helidon itself keeps
 *       a connection open whose request said {@code Connection: close}.
 * </ul>
 *
 * <p>Phases: IDLE → HEAD (first byte of a request) → BODY (a handler runs and reads) → REPLY (the
 * body is read) → IDLE. Two are for ever: UPGRADED (a lane knows its own limits) and CUT (too slow,
 * or refused). The connection's thread moves the phase; {@link ClientConnections} looks at it from
 * its own thread, a few times in a hundred milliseconds, and moves it to CUT.
 *
 * <p>Invariants: the socket is read by one thread at a time, which holds {@code reading}; what was
 * read ahead is handed to the connection's thread before anything else is read; {@code onCut} is
 * run at most once per request, and never after {@link #ended} returned.
 *
 * <p>Life: made when the socket is accepted, registered with {@link ClientConnections} until {@link
 * #handle} returns. Handlers find theirs through {@link #current()}.
 */
public final class ClientConnection extends ContextAround
    implements ServerConnection, InterruptableTask<Void> {

  private enum Phase {
    IDLE,
    HEAD,
    BODY,
    REPLY,
    UPGRADED,
    CUT
  }

  private static final ScopedValue<ClientConnection> CURRENT = ScopedValue.newInstance();
  private static final Logger log = System.getLogger(ClientConnection.class.getName());
  private static final Runnable NOTHING = ClientConnection::nothing;

  private final ClientConnections all;
  private final DataReader reader;
  private final DataWriter writer;
  private final ReentrantLock reading = new ReentrantLock();
  private @Nullable ServerConnection http;
  private byte @Nullable [] ahead;
  private boolean ended;

  /** The next two are used by the connection's thread alone. */
  private boolean bodyUnread;

  private boolean lingers;

  /** The stream at hand was cut, and its client told; used by the connection's thread alone. */
  private boolean parts;

  /** What has arrived since the head's first byte; used by the connection's thread alone. */
  private long headBytes;

  /** Whether the request is a HEAD; used by the connection's thread alone. */
  private boolean lengthAlone;

  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.IDLE);
  private volatile long phaseDueNanos;
  private volatile long replySinceNanos;
  private volatile long writingSinceNanos;

  /** A thread reads ahead, or has read ahead what the connection's thread has not taken yet. */
  private volatile boolean watched;

  /** Guarded by this: what to run when the request is cut, and whether its client is gone. */
  private Runnable onCut = NOTHING;

  private boolean isGone;

  /** When something arrived last of what is dropped. */
  private volatile long heardNanos;

  ClientConnection(ConnectionContext context, ClientConnections all) {
    super(context);
    this.all = all;
    this.reader = DataReader.create(this::arriving);
    this.writer = new WatchedWriter(context.dataWriter(), this);
  }

  private static void nothing() {}

  void speaks(ServerConnection protocol) {
    http = protocol;
  }

  /** The connection of the request that this thread handles. */
  public static ClientConnection current() {
    return CURRENT.get();
  }

  @Override
  public void handle(Limit limit) throws InterruptedException {
    all.add(this);
    try {
      ScopedValue.where(CURRENT, this)
          .call(() -> {
            protocol().handle(limit);
            return null;
          });
      linger();
    } finally {
      all.remove(this);
      wentAway();
    }
  }

  private ServerConnection protocol() {
    ServerConnection protocol = http;
    if (protocol == null) {
      throw new IllegalStateException("a connection is handled before it has a protocol");
    }
    return protocol;
  }

  // ---- what a handler says and asks

  /**
   * The head is read, a handler runs.
   *
   * @param body whether a body follows
   * @param lengthAlone whether the request is a HEAD, which has no body in its reply
   */
  void begun(boolean body, boolean lengthAlone) {
    this.lengthAlone = lengthAlone;
    bodyUnread = body;
    synchronized (this) {
      onCut = NOTHING;
    }
    replySinceNanos = all.nanos();
    if (body) {
      await(Phase.BODY, all.limits().bodyTime());
    } else {
      enter(Phase.REPLY);
      all.wake();
    }
  }

  /** More of the body has arrived: a large body may take longer. */
  void bodyArrived(long bytes) {
    long due = phaseDueNanos;
    phaseDueNanos = due + ((bytes * 1_000_000_000L) >> 16);
  }

  /** The body is read: from now on a client that goes away is noticed. */
  void bodyRead() {
    bodyUnread = false;
    replySinceNanos = all.nanos();
    if (phase.compareAndSet(Phase.BODY, Phase.REPLY)) {
      all.wake();
    }
  }

  /** Whether bytes of the request's body may be on their way. */
  boolean bodyUnread() {
    return bodyUnread;
  }

  /** A write to the client begins, and may wait for it. */
  void writing() {
    writingSinceNanos = all.nanos() | 1;
  }

  /** The write is done. */
  void written() {
    writingSinceNanos = 0;
  }

  /**
   * How to end what the request waits for: where the client goes away before the request has ended,
   * or the server stops and its time is over; run at once where that has happened. Replaces what
   * was given before.
   */
  public void onCut(Runnable action) {
    synchronized (this) {
      if (!isGone && !timeIsOver()) {
        onCut = action;
        return;
      }
      onCut = NOTHING;
    }
    action.run();
  }

  /** Whether the client is known to be gone. */
  public synchronized boolean isGone() {
    return isGone;
  }

  /** Whether the server stops and the time of what ran then is over. */
  public boolean timeIsOver() {
    return all.timeIsOver();
  }

  /** Sends a whole reply, or to a HEAD how long its body would be. */
  public void send(ServerResponse response, byte[] body) {
    if (lengthAlone) {
      response.headers().contentLength(body.length);
      response.send();
    } else {
      response.send(body);
    }
  }

  /** Closes the connection once the reply of the request at hand is out. */
  void closeAfterReply() {
    protocol().close(false);
  }

  /**
   * Reads on for a moment once the reply is out: it refuses a request of which much may be on its
   * way.
   */
  void lingerAfterReply() {
    lingers = true;
  }

  /**
   * The stream of the request at hand is incomplete, which its last event says, and the connection
   * is closed behind it: not before the client could read that. The JDK's client drops what it has
   * received and nobody read yet when it finds that a reply breaks off.
   */
  public void partAfterReply() {
    parts = true;
  }

  /** Waits where {@link #partAfterReply} was called, until the client has left. */
  void part() {
    if (!parts) {
      return;
    }
    parts = false;
    long due = all.nanos() + all.limits().partingTime().toNanos();
    try {
      synchronized (this) {
        for (long left; !isGone && (left = due - all.nanos()) > 0; ) {
          TimeUnit.NANOSECONDS.timedWait(this, left);
        }
      }
    } catch (InterruptedException stopping) {
      Thread.currentThread().interrupt();
    }
  }

  private void linger() {
    if (!lingers) {
      return;
    }
    phase.set(Phase.CUT);
    heardNanos = all.nanos();
    Thread end = Thread.ofVirtual().name("client-linger").start(this::closeAfterLinger);
    while (next() != null) {
      // Nobody will look at it. A client that still sends has not begun to read.
      heardNanos = all.nanos();
    }
    end.interrupt();
  }

  private void closeAfterLinger() {
    long due = all.nanos() + all.limits().bodyTime().toNanos();
    long quiet = all.limits().lingerTime().toNanos();
    try {
      for (long now = all.nanos(), left;
          (left = Math.min(heardNanos + quiet - now, due - now)) > 0;
          now = all.nanos()) {
        TimeUnit.NANOSECONDS.sleep(left);
      }
      closeSocket();
    } catch (InterruptedException endedBefore) {
      // Nothing to close: the client has gone.
      return;
    }
  }

  /** Whether more of a head has arrived than a head may have. */
  boolean headIsTooLarge() {
    return phase.get() == Phase.HEAD && headBytes >= all.limits().headBytesMax();
  }

  /** The request has ended. */
  void ended() {
    synchronized (this) {
      onCut = NOTHING;
    }
    enter(Phase.IDLE);
  }

  /** The connection is a lane from now on. */
  void upgraded() {
    phase.set(Phase.UPGRADED);
  }

  private void await(Phase next, Duration limit) {
    phaseDueNanos = all.nanos() + limit.toNanos();
    enter(next);
  }

  private void enter(Phase next) {
    phase.updateAndGet(now -> now == Phase.CUT ? now : next);
  }

  // ---- what the sweep does

  /** When a connection wants to be looked at again. */
  enum Again {
    SOON,
    LATER,
    NEVER
  }

  /** Acts on what is overdue. */
  Again look(long now, long watchAfterNanos) {
    Phase seen = phase.get();
    if (seen == Phase.HEAD || seen == Phase.BODY) {
      if (now - phaseDueNanos >= 0 && phase.compareAndSet(seen, Phase.CUT)) {
        Thread.ofVirtual().name("slow-client").start(() -> tooSlow(seen));
      }
      return Again.LATER;
    }
    if (seen != Phase.REPLY) {
      return Again.NEVER;
    }
    long writingSince = writingSinceNanos;
    if (writingSince != 0
        && now - writingSince >= all.limits().writeTime().toNanos()
        && phase.compareAndSet(seen, Phase.CUT)) {
      Thread.ofVirtual().name("slow-client").start(this::closeSocket);
    }
    if (watched) {
      return Again.LATER;
    }
    if (now - replySinceNanos >= watchAfterNanos) {
      watched = true;
      Thread.ofVirtual().name("client-watch").start(this::readAhead);
      return Again.LATER;
    }
    return Again.SOON;
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

  private void closeSocket() {
    try {
      serverSocket().close();
    } catch (RuntimeException closedAlready) {
      log.log(Level.DEBUG, "a client's socket was closed already", closedAlready);
    }
  }

  private void readAhead() {
    reading.lock();
    try {
      if (ahead == null && !ended) {
        ahead = pull();
      }
      if (!ended) {
        return;
      }
    } finally {
      reading.unlock();
    }
    wentAway();
  }

  private void wentAway() {
    synchronized (this) {
      isGone = true;
      notifyAll();
    }
    cut();
  }

  /** Ends what the request waits for. */
  void cut() {
    Runnable action;
    synchronized (this) {
      action = onCut;
      onCut = NOTHING;
    }
    action.run();
  }

  // ---- reading, for Helidon

  /**
   * What arrives of requests. Their end is the end of the connection, wherever in a request it
   * comes: a client may leave, and what Helidon makes of a missing byte is a failure of the server.
   * A lane is told of the end, and knows itself what it means.
   */
  private byte @Nullable [] arriving() {
    byte[] bytes = next();
    if (bytes == null && phase.get() != Phase.UPGRADED) {
      throw new CloseConnectionException("the client sends nothing more");
    }
    return bytes;
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
        headBytes = 0;
        await(Phase.HEAD, all.limits().headTime());
        all.wake();
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
  public DataReader dataReader() {
    return reader;
  }

  @Override
  public DataWriter dataWriter() {
    return writer;
  }

  @Override
  public Duration idleTime() {
    return protocol().idleTime();
  }

  /** Helidon closes what is idle, and everything when it stops. */
  @Override
  public void close(boolean interrupt) {
    protocol().close(interrupt);
    if (interrupt || phase.get() == Phase.IDLE) {
      closeSocket();
    }
  }

  @Override
  public boolean canInterrupt() {
    return !(http instanceof InterruptableTask<?> task) || task.canInterrupt();
  }
}
