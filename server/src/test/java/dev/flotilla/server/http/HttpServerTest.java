package dev.flotilla.server.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpServerTest {
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final ServerLimits LIMITS = ServerLimits.of(1 << 20, 100);
  private static final ServerWords WORDS =
      new ServerWords(
          "test server",
          ApiError.unavailable("stops", "it stops", Duration.ofSeconds(1)),
          () -> ApiError.badRequest("too_large", "too large", null));

  @Test
  void aPortInUseIsSaidWithTheAddressAndHowToFindItsHolder() throws IOException {
    try (ServerSocket holder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = holder.getLocalPort();

      assertThatThrownBy(() -> server(Place.plain(loopback(port))).start())
          .isInstanceOf(ListenFailed.class)
          .hasMessageContaining("127.0.0.1:" + port + " is in use")
          .hasMessageContaining("ss -ltnp")
          .hasMessageContaining("--listen");
    }
  }

  @Test
  void aSecondListenerOnLoopbackAnswersTheSame() throws IOException {
    try (HttpServer server =
            server(new Place(loopback(0), Optional.empty(), Optional.of(loopback(0)))).start();
        TestClient first = TestClient.connect(server.port());
        TestClient second = TestClient.connect(server.localPort())) {
      assertThat(first.get("/hello").reply().body()).isEqualTo("hello");
      assertThat(second.get("/hello").reply().body()).isEqualTo("hello");
    }
  }

  @Test
  void aClientThatDoesNotReadIsCutAtItsLimit() throws Exception {
    CountDownLatch cut = new CountDownLatch(1);
    HttpService endless =
        rules -> rules.get("/endless", (request, response) -> flood(response, cut));
    try (HttpServer server =
            server(Place.loopback(), LIMITS.withWriteTime(Duration.ofMillis(300)), endless)
                .start();
        TestClient client = TestClient.connect(server.port())) {
      client.get("/endless");

      assertThat(cut.await(SOON.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    }
  }

  @Test
  void connectionsAreForgottenWhenTheyEnd() throws IOException {
    try (HttpServer server = server(Place.loopback()).start()) {
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
    Logger log = Logger.getLogger(ErrorReplies.class.getName());
    Handler listener = new LogOf(logged);
    log.addHandler(listener);
    HttpService broken =
        rules ->
            rules.get(
                "/broken",
                (request, response) -> {
                  throw new IllegalStateException("secret words");
                });
    try (HttpServer server = server(Place.loopback(), LIMITS, broken).start();
        TestClient client = TestClient.connect(server.port())) {
      TestClient.Reply reply = client.get("/broken").reply();

      assertThat(reply.status()).isEqualTo(500);
      assertThat(reply.body()).contains("internal_error").doesNotContain("secret");
      assertThat(logged).containsExactly("GET \"/broken\" failed in the test server: secret words");
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
    try (HttpServer server = server(Place.loopback(), LIMITS, echo).start();
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
    try {
      OutputStream out = response.outputStream();
      while (true) {
        out.write(much);
        out.flush();
      }
    } catch (IOException | RuntimeException closed) {
      cut.countDown();
    }
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

  private static HttpServer server(Place place) throws ListenFailed {
    return server(place, LIMITS, new Hello());
  }

  private static HttpServer server(Place place, ServerLimits limits, HttpService service)
      throws ListenFailed {
    return new HttpServer(place, limits, WORDS, routing -> routing.register(service), List.of());
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}
