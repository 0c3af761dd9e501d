package dev.flotilla.agent.lanes;

import dev.flotilla.wire.connection.Authorities;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import jdk.net.ExtendedSocketOptions;

/**
 * Opens connections to the hub. With {@code https} the certificate's chain and the host name in it
 * are verified, always: against the machine's authorities, or against those of a file alone.
 */
public final class HubDialer {
  private final HubAddress address;
  private final AgentLaneLimits limits;
  private final SSLContext tls;

  /**
   * @param authorities PEM file with the certificates of the authorities to trust; empty for the
   *     machine's own
   * @throws IOException where that file can't be read, or holds no certificate
   */
  public HubDialer(HubAddress address, Optional<Path> authorities, AgentLaneLimits limits)
      throws IOException {
    this.address = address;
    this.limits = limits;
    try {
      this.tls = authorities.isPresent() ? trusting(authorities.get()) : SSLContext.getDefault();
    } catch (GeneralSecurityException e) {
      throw new IOException("TLS can't be set up: " + e.getMessage(), e);
    }
  }

  public HubAddress address() {
    return address;
  }

  /** A new connection; its reads have the handshake's limit until another is set. */
  HubConnection dial() throws IOException {
    Socket socket = SocketChannel.open().socket();
    try {
      socket.setTcpNoDelay(true);
      keepAlive(socket);
      int connectMillis = (int) limits.connect().toMillis();
      socket.connect(new InetSocketAddress(address.bareHost(), address.port()), connectMillis);
      if (socket.getLocalPort() == socket.getPort()
          && socket.getLocalAddress().equals(socket.getInetAddress())) {
        // Dialling an ephemeral port of this machine may meet itself, and keep the hub from it.
        throw new ConnectException("Connection refused");
      }
      Socket stream = socket;
      if (address.tls()) {
        stream = secured(socket, connectMillis);
      }
      stream.setSoTimeout((int) limits.handshake().toMillis());
      return new HubConnection(socket, stream);
    } catch (IOException | RuntimeException e) {
      socket.close();
      throw e;
    }
  }

  /** A failure to reach the hub, in words for a person. */
  String explain(IOException failure) {
    String detail = failure.getMessage() == null ? "" : failure.getMessage();
    return switch (failure) {
      case UnknownHostException e -> "the name " + address.host() + " is not known";
      case SocketTimeoutException e -> address + " does not answer";
      case ConnectException e -> "nothing listens at " + address + " (" + detail + ")";
      case SSLException e -> TlsTrouble.explain(address.toString(), e);
      default -> address + " can't be reached: " + (detail.isEmpty() ? failure : detail);
    };
  }

  private Socket secured(Socket socket, int handshakeMillis) throws IOException {
    SSLSocket secured =
        (SSLSocket)
            tls.getSocketFactory().createSocket(socket, address.bareHost(), address.port(), true);
    SSLParameters parameters = secured.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    parameters.setProtocols(new String[] {"TLSv1.3", "TLSv1.2"});
    secured.setSSLParameters(parameters);
    secured.setSoTimeout(handshakeMillis);
    secured.startHandshake();
    return secured;
  }

  /** A peer that vanished without a word is noticed within half a minute, also while it is idle. */
  private static void keepAlive(Socket socket) throws IOException {
    socket.setKeepAlive(true);
    set(socket, ExtendedSocketOptions.TCP_KEEPIDLE, 15);
    set(socket, ExtendedSocketOptions.TCP_KEEPINTERVAL, 5);
    set(socket, ExtendedSocketOptions.TCP_KEEPCOUNT, 3);
  }

  private static void set(Socket socket, SocketOption<Integer> option, int value)
      throws IOException {
    Set<SocketOption<?>> known = socket.supportedOptions();
    if (known.contains(option)) {
      socket.setOption(option, value);
    }
  }

  private static SSLContext trusting(Path file) throws IOException, GeneralSecurityException {
    Collection<? extends Certificate> authorities;
    try {
      authorities = Authorities.read(file);
    } catch (CertificateException e) {
      throw new IOException("the file of authorities " + file + " is no PEM certificate", e);
    }
    if (authorities.isEmpty()) {
      throw new IOException("the file of authorities " + file + " holds no certificate");
    }
    return Authorities.trusting(authorities);
  }
}
