package dev.flotilla.hub.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.gateway.SocketDialer;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.testkit.client.TestCertificate;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.wire.connection.Authorities;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HubServerTest {
  private static final Duration SOON = Duration.ofSeconds(5);

  @TempDir Path folder;

  @Test
  void aPortInUseIsSaidWithTheAddressAndHowToFindItsHolder() throws IOException {
    try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = holder.getLocalPort();

      assertThatThrownBy(() -> server(port, Optional.empty(), Optional.empty()).start())
          .isInstanceOf(ListenFailed.class)
          .hasMessageContaining("127.0.0.1:" + port + " is in use")
          .hasMessageContaining("ss -ltnp")
          .hasMessageContaining("--listen");
    }
  }

  @Test
  void aSecondListenerOnLoopbackAnswersTheSame() throws IOException {
    try (HubServer server = server(0, Optional.empty(), Optional.of(loopback(0))).start();
        TestClient first = TestClient.connect(server.port());
        TestClient second = TestClient.connect(server.localPort())) {
      assertThat(first.get("/hello").reply().body()).isEqualTo("hello");
      assertThat(second.get("/hello").reply().body()).isEqualTo("hello");
    }
  }

  @Test
  void withACertificateOnlyWhoTrustsItGetsThrough() throws Exception {
    TestCertificate certificate =
        TestCertificate.make(folder, "localhost", "dns:localhost,ip:127.0.0.1");
    try (HubServer server = server(0, Optional.of(own(certificate)), Optional.empty()).start()) {
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

  private static HubServer.Certificate own(TestCertificate made) {
    return new HubServer.Certificate(made.chain(), made.key());
  }

  @Test
  void aCertificateForAnotherNameIsNotTrusted() throws Exception {
    TestCertificate certificate =
        TestCertificate.make(folder, "elsewhere", "dns:elsewhere.example");
    try (HubServer server = server(0, Optional.of(own(certificate)), Optional.empty()).start();
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

    assertThatThrownBy(() ->
            server(0, Optional.of(new HubServer.Certificate(nonsense, nonsense)), Optional.empty()))
        .isInstanceOf(ListenFailed.class)
        .hasMessageContaining("nonsense.pem");
    assertThatThrownBy(() -> Authorities.with(nonsense))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("nonsense.pem");
  }

  @Test
  void aClientThatDoesNotReadIsCutAtItsLimit() throws Exception {
    CountDownLatch cut = new CountDownLatch(1);
    HttpService endless =
        rules -> rules.get("/endless", (request, response) -> flood(response, cut));
    try (HubServer server =
            new HubServer(
                    loopback(0),
                    Optional.empty(),
                    Optional.empty(),
                    writeTime(Duration.ofMillis(300)),
                    List.of(endless),
                    List.of())
                .start();
        TestClient client = TestClient.connect(server.port())) {
      client.get("/endless");

      assertThat(cut.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
  }

  @Test
  void connectionsAreForgottenWhenTheyEnd() throws IOException {
    try (HubServer server = server(0, Optional.empty(), Optional.empty()).start()) {
      for (int i = 0; i < 5; i++) {
        try (TestClient client = TestClient.connect(server.port())) {
          client.get("/hello").reply();
        }
      }
      await().until(() -> server.connections() == 0);
    }
  }

  @Test
  void aHandlersBugTellsTheClientNothingFromInsideAndTheLogWhatWasAsked() throws IOException {
    List<String> logged = new CopyOnWriteArrayList<>();
    Logger log = Logger.getLogger(RequestFilter.class.getName());
    Handler listener = new LogOf(logged);
    log.addHandler(listener);
    HttpService broken =
        rules ->
            rules.get(
                "/broken",
                (request, response) -> {
                  throw new IllegalStateException("secret words");
                });
    try (HubServer server =
            new HubServer(
                    loopback(0),
                    Optional.empty(),
                    Optional.empty(),
                    ServerLimits.DEFAULTS,
                    List.of(broken),
                    List.of())
                .start();
        TestClient client = TestClient.connect(server.port())) {
      TestClient.Reply reply = client.get("/broken").reply();

      assertThat(reply.status()).isEqualTo(500);
      assertThat(reply.body()).contains("internal_error").doesNotContain("secret");
      assertThat(logged).containsExactly("GET \"/broken\" failed in the hub: secret words");
    } finally {
      log.removeHandler(listener);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /echo HTTP/1.1\r\nHost: 1",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf"
      })
  void aClientThatLeavesInTheMiddleOfItsRequestIsNothingToLog(String part) throws IOException {
    List<String> logged = new CopyOnWriteArrayList<>();
    Logger log = Logger.getLogger("");
    HttpService echo =
        rules ->
            rules.post(
                "/echo",
                (request, response) ->
                    response.send(request.content().inputStream().readAllBytes()));
    try (HubServer server =
            new HubServer(
                    loopback(0),
                    Optional.empty(),
                    Optional.empty(),
                    ServerLimits.DEFAULTS,
                    List.of(echo),
                    List.of())
                .start();
        TestClient client = TestClient.connect(server.port())) {
      Handler listener = new LogOf(logged);
      // What is told below it, of listeners that close, comes from anywhere and at any time.
      listener.setLevel(Level.WARNING);
      log.addHandler(listener);
      try {
        client.send(part);
        await().until(() -> server.connections() == 1);
        client.abandon();
        await().until(() -> server.connections() == 0);
      } finally {
        log.removeHandler(listener);
      }
      assertThat(logged).isEmpty();
    }
  }

  private static final class LogOf extends Handler {
    private final List<String> lines;

    LogOf(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public void publish(LogRecord line) {
      if (!isLoggable(line)) {
        return;
      }
      Throwable thrown = line.getThrown();
      lines.add(line.getMessage() + (thrown == null ? "" : ": " + thrown.getMessage()));
    }

    @Override
    public void flush() {
      // Nothing waits.
    }

    @Override
    public void close() {
      // Nothing is open.
    }
  }

  private static void flood(ServerResponse response, CountDownLatch cut) {
    byte[] much = new byte[1 << 20];
    ClientConnection client = ClientConnection.current();
    try {
      OutputStream out = response.outputStream();
      while (true) {
        client.writing();
        out.write(much);
        out.flush();
        client.written();
      }
    } catch (IOException | RuntimeException closed) {
      cut.countDown();
    }
  }

  private static ServerLimits writeTime(Duration time) {
    ServerLimits usual = ServerLimits.DEFAULTS;
    return new ServerLimits(
        usual.bodyBytesMax(),
        usual.headBytesMax(),
        usual.headTime(),
        usual.bodyTime(),
        time,
        usual.idle(),
        usual.connectionsMax(),
        usual.lingerTime(),
        usual.partingTime(),
        usual.stopTime(),
        usual.lastWords());
  }

  private static final class Hello implements HttpService {
    @Override
    public void routing(HttpRules rules) {
      rules.get("/hello", this::hello);
    }

    private void hello(ServerRequest request, ServerResponse response) {
      response.send("hello".getBytes(UTF_8));
    }
  }

  private static HubServer server(
      int port, Optional<HubServer.Certificate> certificate, Optional<InetSocketAddress> local)
      throws ListenFailed {
    return new HubServer(
        loopback(port), certificate, local, ServerLimits.DEFAULTS, List.of(new Hello()), List.of());
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
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
