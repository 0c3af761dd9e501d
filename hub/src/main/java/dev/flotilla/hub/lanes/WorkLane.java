package dev.flotilla.hub.lanes;

import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.lanes.LaneLine;
import io.helidon.common.concurrency.limits.Limit;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One work lane, from its 101 to its end.
 *
 * <p><b>Life.</b> Unopened: the server's thread of this connection sits in {@link #handle} and
 * reads, so the end of the agent is seen at once. A request takes the lane out of the pool and
 * {@linkplain #open opens} it: it writes OPEN and waits for the line that the server's thread
 * reads. After OPENED that thread only waits for the end, and the requests' threads read and write
 * themselves, one request at a time. Ends by {@link #close}, from any thread, which closes the
 * socket and so ends a read that waits.
 *
 * <p><b>Who reads.</b> Never two threads: the server's thread up to the answer's line end, then
 * whoever holds the lease. The answer's future orders the one after the other.
 *
 * <p>The fields {@code worker}, {@code workerGeneration}, {@code place}, {@code idleSince}, {@code
 * watched} and {@code last} belong to the pool and are guarded by its lock.
 */
final class WorkLane implements ServerConnection, Connection {
  /** Where the pool has the lane. */
  enum Place {
    /** Not in the pool yet, or not any more. */
    NOWHERE,
    UNOPENED,
    /** Held by a request. */
    IN_USE,
    /** Opened, between two requests. */
    BOUND
  }

  final long agentGeneration;
  Place place = Place.NOWHERE;
  String worker = "";
  long workerGeneration;
  long idleSince;

  /** Whether the server's thread watches the idle lane. */
  boolean watched;

  /** The server stops, so no other request gets this lane. */
  boolean last;

  private @Nullable Http1 client;
  private final ConnectionContext context;
  private final WorkLanePool pool;
  private final LaneInput input;
  private final LaneOutput output;
  private final CompletableFuture<LaneLine> answer = new CompletableFuture<>();

  /** What the server's thread of an opened lane waits for: to watch, or the end. */
  private final Semaphore turns = new Semaphore(0);

  private volatile boolean closed;

  WorkLane(ConnectionContext context, WorkLanePool pool, long agentGeneration) {
    this.context = context;
    this.pool = pool;
    this.agentGeneration = agentGeneration;
    this.input = new LaneInput(context.dataReader());
    this.output = new LaneOutput(context.dataWriter());
  }

  /** The server's thread of this connection; returning makes the server close the socket. */
  @Override
  public void handle(Limit limit) {
    try {
      if (!pool.donated(this)) {
        return;
      }
      LaneLine line = LaneLine.read(input);
      if (pool.isUnopened(this)) {
        return; // An agent that speaks before it is asked is not one of ours.
      }
      answer.complete(line);
      // A server that stops interrupts whom it can, and a request may run on: its end is a close.
      turns.acquireUninterruptibly();
      while (!closed) {
        input.watch();
        if (pool.dropWatched(this)) {
          return; // What an engine says unasked is no reply to the next request.
        }
        turns.acquireUninterruptibly();
      }
    } catch (IOException e) {
      answer.completeExceptionally(e);
    } finally {
      answer.completeExceptionally(new IOException("the lane was closed"));
      close();
      input.watchIsOver();
    }
  }

  /**
   * Asks the agent for a tunnel.
   *
   * @return the agent's answer: {@link LaneLine.Opened} or {@link LaneLine.Refused}
   * @throws IOException where the lane died, or the answer did not come within {@code wait}
   */
  LaneLine open(String toWorker, long generation, Duration wait) throws IOException {
    output.write(new LaneLine.Open(toWorker, generation).format());
    try {
      return answer.get(wait.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException _) {
      throw new IOException(
          "the agent did not answer within " + wait.toMillis() + " ms whether it can reach it");
    } catch (ExecutionException e) {
      throw new IOException("the lane died as it was opened", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while a lane was opened", e);
    }
  }

  /** Lets the server's thread watch for the end while no request has the lane. Under the lock. */
  void watchIdle() {
    watched = true;
    input.willWatch();
    turns.release();
  }

  /** The HTTP client of this lane, which keeps its buffer from one request to the next. */
  Http1 http1(String host) {
    Http1 kept = client;
    if (kept == null) {
      kept = new Http1(this, host, Http1Limits.DEFAULTS);
      client = kept;
    }
    return kept;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public InputStream input() {
    return input;
  }

  @Override
  public OutputStream output() {
    return output;
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    pool.gone(this);
    turns.release();
    cutSocket(context);
  }

  /** The server stops: at first a request may run on, then its time is over. */
  @Override
  public void close(boolean interrupt) {
    if (interrupt || !pool.isEndingAfterUse(this)) {
      close();
    }
  }

  /** Idle lanes are watched by the pool, not by the server. */
  @Override
  public Duration idleTime() {
    return Duration.ZERO;
  }

  /** Closes a connection's socket from any thread: a read that waits ends. */
  static void cutSocket(ConnectionContext context) {
    try {
      context.serverSocket().close();
    } catch (RuntimeException _) {
      // Already gone at the other end; the server's own thread closes what is left.
    }
  }
}
