package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.wire.Connection;
import dev.flotilla.wire.Http1;
import dev.flotilla.wire.Http1Limits;
import dev.flotilla.wire.SocketConnection;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
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

  private final String host;
  private final int port;
  private final @Nullable SSLContext tls;
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
    boolean secure = "https".equalsIgnoreCase(base.getScheme());
    if (!secure && !"http".equalsIgnoreCase(base.getScheme())) {
      throw new IllegalArgumentException("a backend's URL begins with http:// or https://");
    }
    String name = base.getHost();
    if (name == null) {
      throw new IllegalArgumentException("a backend's URL names a host");
    }
    this.host = name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
    this.port = base.getPort() > 0 ? base.getPort() : secure ? 443 : 80;
    this.tls = secure ? tls.orElseGet(SocketDialer::machinesOwn) : null;
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  private static SSLContext machinesOwn() {
    try {
      return SSLContext.getDefault();
    } catch (java.security.NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }

  /** The value of the {@code Host} header that goes with a backend's URL. */
  public static String hostHeader(URI base) {
    return base.getPort() < 0 ? base.getHost() : base.getHost() + ":" + base.getPort();
  }

  @Override
  public Lease dial(boolean fresh, Duration limit) throws IOException {
    Pooled pooled = fresh ? null : takeIdle();
    if (pooled != null) {
      return pooled;
    }
    return new Pooled(connect(limit));
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

  private Connection connect(Duration limit) throws IOException {
    String where = host + ":" + port;
    try {
      // By name each time: a backend may move.
      InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(host), port);
      if (tls == null) {
        return SocketConnection.dial(address, limit);
      }
      return secured(tls, address, limit);
    } catch (UnknownHostException unknown) {
      throw new IOException("the host " + host + " is not known", unknown);
    } catch (SocketTimeoutException slow) {
      throw new IOException(
          "no connection to " + where + " within " + limit.toMillis() + " ms", slow);
    } catch (ConnectException refused) {
      throw new IOException("nothing listens on " + where, refused);
    } catch (SSLException distrust) {
      throw new IOException(
          "no trusted connection to " + where + ": " + distrust.getMessage(), distrust);
    }
  }

  private Connection secured(SSLContext context, InetSocketAddress address, Duration limit)
      throws IOException {
    int millis = Math.clamp(limit.toMillis(), 1, Integer.MAX_VALUE);
    Socket plain = new Socket();
    try {
      plain.setTcpNoDelay(true);
      plain.connect(address, millis);
      SSLSocket socket =
          (SSLSocket) context.getSocketFactory().createSocket(plain, host, port, true);
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      socket.setSSLParameters(parameters);
      socket.setSoTimeout(millis);
      socket.startHandshake();
      socket.setSoTimeout(0);
      return new SocketConnection(socket);
    } catch (IOException failed) {
      plain.close();
      throw failed;
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
