package dev.flotilla.server.http;

import io.helidon.common.configurable.Resource;
import io.helidon.common.tls.Tls;
import io.helidon.http.HttpPrologue;
import io.helidon.http.WritableHeaders;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import io.helidon.webserver.spi.ServerConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A listener, and where wanted a second one on loopback that answers the same. */
public final class HttpServer implements AutoCloseable {
  private static final String LOCAL = "local";

  private final Place place;
  private final String name;
  private final ServerLimits limits;
  private final ErrorReplies errors;
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
   * Where a server listens.
   *
   * @param address the first listener's; port 0 takes any free one
   * @param certificate what the first listener shows; without one it speaks no TLS
   * @param local a second listener without TLS, for the machine itself
   */
  public record Place(
      InetSocketAddress address,
      Optional<Certificate> certificate,
      Optional<InetSocketAddress> local) {

    /** One listener without TLS. */
    public static Place plain(InetSocketAddress address) {
      return new Place(address, Optional.empty(), Optional.empty());
    }

    /** One listener without TLS, for the machine itself, on any free port. */
    public static Place loopback() {
      return plain(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }
  }

  /**
   * A server that does not listen yet.
   *
   * @param routing adds the paths
   * @param upgraders of connections to what is not HTTP
   * @throws ListenFailed where the certificate can't be read
   */
  public HttpServer(
      Place place,
      ServerLimits limits,
      ServerWords words,
      Consumer<HttpRouting.Builder> routing,
      List<Http1Upgrader> upgraders)
      throws ListenFailed {
    this.place = place;
    this.name = words.name();
    this.limits = limits;
    this.errors = new ErrorReplies(words, limits);
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
    listen(builder, place.address());
    builder.routing(paths -> route(paths, routing));
    if (place.certificate().isPresent()) {
      builder.tls(tls(place.certificate().get()));
    }
    place
        .local()
        .ifPresent(second ->
            builder.putSocket(
                LOCAL,
                socket -> {
                  listen(socket, second);
                  socket.routing(paths -> route(paths, routing));
                }));
    this.server = builder.build();
  }

  private void listen(ListenerConfig.BuilderBase<?, ?> listener, InetSocketAddress at) {
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
        .directHandlers(errors.handlers())
        .addConnectionSelector(connections);
  }

  private void route(HttpRouting.Builder paths, Consumer<HttpRouting.Builder> routing) {
    paths.addFilter(new RequestFilter(connections.requests(), errors));
    paths.error(Throwable.class, errors::bug);
    routing.accept(paths);
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
   * Whether a server could listen there.
   *
   * @param name what it calls itself
   * @throws ListenFailed where the address is taken or is not this machine's, or the certificate
   *     can't be read
   */
  public static void check(Place place, String name) throws ListenFailed {
    if (place.certificate().isPresent()) {
      var _ = tls(place.certificate().get());
    }
    probe(place, name);
  }

  /**
   * Starts to listen.
   *
   * @throws ListenFailed where the address is taken or is not this machine's
   */
  public HttpServer start() throws ListenFailed {
    // Helidon only logs what keeps it from listening, so it is asked beforehand.
    probe(place, name);
    server.start();
    if (!server.isRunning()) {
      connections.close();
      throw new ListenFailed(
          "the "
              + name
              + " can't listen on "
              + FreeAddress.shown(place.address())
              + "; its log says why");
    }
    connections.start();
    return this;
  }

  private static void probe(Place place, String name) throws ListenFailed {
    try {
      FreeAddress.check(place.address(), name);
      if (place.local().isPresent()) {
        FreeAddress.check(place.local().get(), name);
      }
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

  /** Connections that are open, upgraded ones included. */
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
