package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.connection.Origin;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Connections to one backend: blocking sockets, kept for the next request after a reply that ended
 * whole.
 *
 * <p>The most recently used is given out first, so that a pool that shrank lets its oldest go idle
 * and close. What lay idle for longer than the limit is closed when it is met: engines close idle
 * connections themselves, and a stale one costs a request its first try. There is no thread that
 * cleans up; the pool holds at most {@link Limits#idleMax} connections.
 *
 * <p>By {@code https} the chain and the host's name are verified, always.
 */
public final class SocketDialer implements Dialer, AutoCloseable {

  /**
   * Bounds of the pool.
   *
   * @param idleMax connections that are kept idle (default 256)
   * @param idle how long one is kept (default 30 s)
   */
  public record Limits(int idleMax, Duration idle) {
    public static final Limits DEFAULTS = new Limits(256, Duration.ofSeconds(30));
  }

  private final Origin origin;
  private final Limits limits;
  private final LongSupplier nanoClock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Pooled> idle = new ArrayDeque<>();
  private boolean closed;

  /**
   * @param base where the backend is; of its parts only scheme, host and port count
   * @param tls what {@code https} trusts; empty for the machine's own authorities
   * @throws IllegalArgumentException if the scheme is neither {@code http} nor {@code https}, or
   *     there is no host
   */
  public SocketDialer(URI base, Optional<SSLContext> tls, Limits limits, LongSupplier nanoClock) {
    this.origin = new Origin(base, tls);
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  /** The value of the {@code Host} header that goes with the backend's URL. */
  public String hostHeader() {
    return origin.hostHeader();
  }

  @Override
  public Lease dial(boolean fresh, Duration limit) throws IOException {
    Pooled pooled = fresh ? null : takeIdle();
    if (pooled != null) {
      return pooled;
    }
    return new Pooled(origin.connect(limit));
  }

  private @Nullable Pooled takeIdle() {
    lock.lock();
    try {
      long oldest = nanoClock.getAsLong() - limits.idle().toNanos();
      while (!idle.isEmpty()) {
        Pooled newest = idle.pollFirst();
        if (newest.idleSinceNanos - oldest >= 0) {
          return newest;
        }
        newest.connection.close();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Connections that lie idle. */
  public int idleConnections() {
    lock.lock();
    try {
      return idle.size();
    } finally {
      lock.unlock();
    }
  }

  private void put(Pooled connection) {
    Pooled surplus = null;
    lock.lock();
    try {
      if (closed) {
        surplus = connection;
      } else {
        connection.idleSinceNanos = nanoClock.getAsLong();
        connection.reused = true;
        idle.addFirst(connection);
        surplus = idle.size() > limits.idleMax() ? idle.pollLast() : null;
      }
    } finally {
      lock.unlock();
    }
    if (surplus != null) {
      surplus.connection.close();
    }
  }

  /** Closes what lies idle, and what comes back later. */
  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      idle.forEach(each -> each.connection.close());
      idle.clear();
    } finally {
      lock.unlock();
    }
  }

  private final class Pooled implements Lease {
    private final Connection connection;
    private @Nullable Http1 http;
    private long idleSinceNanos;
    private boolean reused;

    Pooled(Connection connection) {
      this.connection = connection;
    }

    @Override
    public Connection connection() {
      return connection;
    }

    @Override
    public Http1 http1(String hostHeader) {
      Http1 client = http;
      if (client == null) {
        client = new Http1(connection, hostHeader, Http1Limits.DEFAULTS);
        http = client;
      }
      return client;
    }

    @Override
    public boolean reused() {
      return reused;
    }

    @Override
    public void keep() {
      put(this);
    }
  }
}
