package dev.flotilla.hub.server;

import dev.flotilla.wire.server.FreeAddress;
import io.helidon.common.configurable.Resource;
import io.helidon.common.tls.Tls;
import io.helidon.http.HttpPrologue;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The hub's listener: one address for clients, agents, the command line and browsers, and where
 * wanted a second one on loopback.
 */
public final class HubServer implements AutoCloseable {
  private static final String LOCAL = "local";

  private final InetSocketAddress address;
  private final Optional<InetSocketAddress> local;
  private final ClientConnections connections;
  private final WebServer server;

  /**
   * A certificate for the listener, both in PEM.
   *
   * @param chain the certificate, and those between it and its authority
   * @param key its private key, without a passphrase
   */
  public record Certificate(Path chain, Path key) {}

  /**
   * As the longer one, with the listener's own bound as the largest body.
   *
   * @throws ListenFailed where the certificate can't be read
   */
  public HubServer(
      InetSocketAddress address,
      Optional<Certificate> certificate,
      Optional<InetSocketAddress> local,
      ServerLimits limits,
      List<HttpService> services,
      List<Http1Upgrader> upgraders)
      throws ListenFailed {
    this(address, certificate, local, limits, limits::bodyBytesMax, services, upgraders);
  }

  /**
   * @param address where to listen; port 0 takes any free one
   * @param local a second listener without TLS, for the machine itself
   * @param bodyBytesMax largest request body now, from the configuration: what is said of a body
   *     that even the listener refuses
   * @param services each adds its own paths
   * @param upgraders the lanes
   * @throws ListenFailed where the certificate can't be read
   */
  public HubServer(
      InetSocketAddress address,
      Optional<Certificate> certificate,
      Optional<InetSocketAddress> local,
      ServerLimits limits,
      LongSupplier bodyBytesMax,
      List<HttpService> services,
      List<Http1Upgrader> upgraders)
      throws ListenFailed {
    this.address = address;
    this.local = local;
    Http1ConnectionSelector http =
        Http1ConnectionSelector.builder()
            .config(
                Http1Config.builder()
                    .maxHeadersSize(limits.headBytesMax())
                    .maxPrologueLength(ServerLimits.FIRST_LINE_BYTES_MAX)
                    .continueImmediately(false)
                    .sendKeepAliveHeader(false)
                    .build())
            .update(builder -> upgraders.forEach(each -> builder.addUpgrader(new Marked(each))))
            .build();
    this.connections = new ClientConnections(http, limits, System::nanoTime);
    var builder =
        WebServer.builder()
            .shutdownHook(false)
            .featuresDiscoverServices(false)
            .shutdownGracePeriod(limits.lastWords());
    listen(builder, address, limits, bodyBytesMax);
    builder.routing(routing -> route(routing, services));
    if (certificate.isPresent()) {
      builder.tls(tls(certificate.get()));
    }
    local.ifPresent(second ->
        builder.putSocket(
            LOCAL,
            socket -> {
              listen(socket, second, limits, bodyBytesMax);
              socket.routing(routing -> route(routing, services));
            }));
    this.server = builder.build();
  }

  private void listen(
      ListenerConfig.BuilderBase<?, ?> listener,
      InetSocketAddress at,
      ServerLimits limits,
      LongSupplier bodyBytesMax) {
    listener
        .address(at.getAddress())
        .port(at.getPort())
        .maxPayloadSize(limits.bodyBytesMax())
        .maxTcpConnections(limits.connectionsMax())
        .writeQueueLength(0)
        .smartAsyncWrites(false)
        .writeBufferSize(8 << 10)
        .backlog(1024)
        .connectionOptions(options -> options.tcpNoDelay(true))
        .contentEncoding(PlainBodies.ALONE)
        .idleConnectionTimeout(limits.idle())
        .idleConnectionPeriod(Duration.ofSeconds(15))
        .protocolsDiscoverServices(false)
        .concurrencyLimitDiscoverServices(false)
        .shutdownGracePeriod(limits.lastWords())
        .directHandlers(new JsonErrors(bodyBytesMax, limits).handlers())
        .addConnectionSelector(connections);
  }

  private void route(HttpRouting.Builder routing, List<HttpService> services) {
    routing.addFilter(new RequestFilter(connections.requests()));
    routing.error(Throwable.class, RequestFilter::bug);
    services.forEach(routing::register);
  }

  private static Tls tls(Certificate certificate) throws ListenFailed {
    try {
      return Tls.builder()
          .privateKey(keys ->
              keys.pem(pem ->
                  pem.key(Resource.create(certificate.key()))
                      .certChain(Resource.create(certificate.chain()))))
          .privateKeyCertChain(
              keys -> keys.pem(pem -> pem.certChain(Resource.create(certificate.chain()))))
          .build();
    } catch (RuntimeException unreadable) {
      throw new ListenFailed(
          "the certificate "
              + certificate.chain()
              + " with the key "
              + certificate.key()
              + " can't be used: both have to be PEM, the key without a passphrase",
          unreadable);
    }
  }

  /**
   * Whether one could listen there.
   *
   * @throws ListenFailed where the address is taken or is not this machine's, or the certificate
   *     can't be read
   */
  public static void check(InetSocketAddress address, Optional<Certificate> certificate)
      throws ListenFailed {
    if (certificate.isPresent()) {
      var _ = tls(certificate.get());
    }
    probe(address);
  }

  /**
   * Starts to listen.
   *
   * @throws ListenFailed where the address is taken or is not this machine's
   */
  public HubServer start() throws ListenFailed {
    // Helidon only logs what keeps it from listening, so it is asked beforehand.
    probe(address);
    if (local.isPresent()) {
      probe(local.get());
    }
    server.start();
    if (!server.isRunning()) {
      connections.close();
      throw new ListenFailed(
          "the hub can't listen on " + FreeAddress.shown(address) + "; its log says why");
    }
    connections.start();
    return this;
  }

  private static void probe(InetSocketAddress at) throws ListenFailed {
    try {
      FreeAddress.check(at, "hub");
    } catch (IOException refused) {
      throw new ListenFailed(String.valueOf(refused.getMessage()), refused);
    }
  }

  /** The port of the first listener. */
  public int port() {
    return server.port();
  }

  /** The port of the second listener, -1 where there is none. */
  public int localPort() {
    return server.port(LOCAL);
  }

  /** Connections that are open, lanes included. */
  public int connections() {
    return connections.size();
  }

  /**
   * Refuses what is asked from now on, lets what runs end, which is cut after {@link
   * ServerLimits#stopTime} and has {@link ServerLimits#lastWords} more, and stops listening then.
   */
  @Override
  public void close() {
    connections.stop();
    server.stop();
    connections.close();
  }

  /** An upgrader whose connections are no longer watched as requests. */
  private record Marked(Http1Upgrader upgrader) implements Http1Upgrader {
    @Override
    public String supportedProtocol() {
      return upgrader.supportedProtocol();
    }

    @Override
    public @Nullable ServerConnection upgrade(
        ConnectionContext context, HttpPrologue prologue, WritableHeaders<?> headers) {
      ServerConnection upgraded = upgrader.upgrade(context, prologue, headers);
      if (upgraded != null) {
        ClientConnection.current().upgraded();
      }
      return upgraded;
    }
  }
}
