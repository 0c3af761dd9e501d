package dev.flotilla.wire.connection;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/**
 * Where a server is, in the sense of RFC 9110 §4.3.1: scheme, host and port. Connects to it.
 *
 * <p>By {@code https} the chain and the host's name are verified, always.
 */
public final class Origin {
  private final String host;
  private final int port;
  private final String hostHeader;
  private final @Nullable SSLContext tls;

  /**
   * @param url of its parts only scheme, host and port count
   * @param tls what {@code https} trusts; empty for the machine's own authorities
   * @throws IllegalArgumentException if the scheme is neither {@code http} nor {@code https}, or
   *     there is no host
   */
  public Origin(URI url, Optional<SSLContext> tls) {
    boolean secure = "https".equalsIgnoreCase(url.getScheme());
    if (!secure && !"http".equalsIgnoreCase(url.getScheme())) {
      throw new IllegalArgumentException("a server's URL begins with http:// or https://");
    }
    String name = url.getHost();
    if (name == null) {
      throw new IllegalArgumentException("a server's URL names a host");
    }
    this.host = name.startsWith("[") ? name.substring(1, name.length() - 1) : name;
    this.port = url.getPort() > 0 ? url.getPort() : secure ? 443 : 80;
    this.hostHeader = url.getPort() < 0 ? name : name + ":" + url.getPort();
    this.tls = secure ? tls.orElseGet(Origin::machinesOwn) : null;
  }

  private static SSLContext machinesOwn() {
    try {
      return SSLContext.getDefault();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }

  /** The value of the {@code Host} header of requests to it. */
  public String hostHeader() {
    return hostHeader;
  }

  /**
   * A new connection, without delay of small writes.
   *
   * @param within how long to try: for the socket, and once more for the handshake of TLS
   * @throws IOException if there is none; the message says why, in words for an error body
   */
  public Connection connect(Duration within) throws IOException {
    String where = host + ":" + port;
    try {
      // By name each time: a server may move.
      InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(host), port);
      if (tls == null) {
        return SocketConnection.dial(address, within);
      }
      return secured(tls, address, within);
    } catch (UnknownHostException unknown) {
      throw new IOException("the host " + host + " is not known", unknown);
    } catch (SocketTimeoutException slow) {
      throw new IOException(
          "no connection to " + where + " within " + within.toMillis() + " ms", slow);
    } catch (ConnectException refused) {
      throw new IOException("nothing listens on " + where, refused);
    } catch (SSLException distrust) {
      throw new IOException(
          "no trusted connection to " + where + ": " + distrust.getMessage(), distrust);
    }
  }

  private Connection secured(SSLContext context, InetSocketAddress address, Duration within)
      throws IOException {
    int millis = Math.clamp(within.toMillis(), 1, Integer.MAX_VALUE);
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
}
