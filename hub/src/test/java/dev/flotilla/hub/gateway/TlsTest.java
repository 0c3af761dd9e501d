package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Certificate;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import dev.flotilla.testkit.client.TestCertificate;
import dev.flotilla.wire.connection.Authorities;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A listener with a certificate, and the dialer that checks it. */
class TlsTest {
  private static final Duration SOON = Duration.ofSeconds(5);

  @TempDir Path folder;

  @Test
  void withACertificateOnlyWhoTrustsItGetsThrough() throws Exception {
    TestCertificate certificate =
        TestCertificate.make(folder, "localhost", "dns:localhost,ip:127.0.0.1");
    try (HttpServer server = server(own(certificate)).start()) {
      URI url = URI.create("https://127.0.0.1:" + server.port());
      SSLContext trusting = Authorities.with(certificate.chain());

      try (SocketDialer dialer = dialer(url, Optional.of(trusting))) {
        assertThat(hello(dialer)).isEqualTo("hello");
        assertThat(dialer.idleConnections()).isEqualTo(1);
        assertThat(hello(dialer)).isEqualTo("hello");
        assertThat(dialer.idleConnections()).isEqualTo(1);
      }
      try (SocketDialer dialer = dialer(url, Optional.empty())) {
        assertThatThrownBy(() -> hello(dialer))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("no trusted connection to 127.0.0.1:");
      }
    }
  }

  private static Certificate own(TestCertificate made) {
    return new Certificate(made.chain(), made.key());
  }

  @Test
  void aCertificateForAnotherNameIsNotTrusted() throws Exception {
    TestCertificate certificate =
        TestCertificate.make(folder, "elsewhere", "dns:elsewhere.example");
    try (HttpServer server = server(own(certificate)).start();
        SocketDialer dialer =
            dialer(
                URI.create("https://127.0.0.1:" + server.port()),
                Optional.of(Authorities.with(certificate.chain())))) {
      assertThatThrownBy(() -> hello(dialer)).hasMessageContaining("no trusted connection");
    }
  }

  @Test
  void aCertificateThatIsNoneIsRefusedByName() throws IOException {
    Path nonsense = Files.writeString(folder.resolve("nonsense.pem"), "not PEM");

    assertThatThrownBy(() -> server(new Certificate(nonsense, nonsense)))
        .isInstanceOf(ListenFailed.class)
        .hasMessageContaining("nonsense.pem");
    assertThatThrownBy(() -> Authorities.with(nonsense))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nonsense.pem");
  }

  private static HttpServer server(Certificate certificate) throws ListenFailed {
    return HubListener.of(
        new Place(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            Optional.of(certificate),
            Optional.empty()),
        HubListener.LIMITS,
        HubListener.LIMITS::bodyBytesMax,
        List.of(rules -> rules.get("/hello", (_, response) -> response.send("hello"))),
        List.of());
  }

  private static SocketDialer dialer(URI url, Optional<SSLContext> tls) {
    return new SocketDialer(url, tls, SocketDialer.Limits.DEFAULTS, System::nanoTime);
  }

  private static String hello(SocketDialer dialer) throws IOException {
    Dialer.Lease lease = dialer.dial(false, SOON);
    HttpReply reply = lease.http1("localhost").exchange(HttpCall.get("/hello", HttpHeaders.NONE));
    String body = new String(reply.bytes(100), UTF_8);
    lease.keep();
    return body;
  }
}
