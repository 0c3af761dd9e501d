package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.wire.connection.Deadlines;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an answer to the question after a backend's models says of it. */
class BackendProbeTest {

  @ParameterizedTest
  @CsvSource({
    "200, ''",
    "404, ''",
    "429, ''",
    "501, ''",
    "401, it refuses the hub's key (HTTP 401)",
    "403, it refuses the hub's key (HTTP 403)",
    "500, it answers with HTTP 500",
    "503, it answers with HTTP 503",
  })
  void anAnswerSaysWhetherTheBackendCanBeUsed(int status, String trouble) throws Exception {
    try (HttpServer backend = answering(status)) {
      assertThat(ask(backend.port(), "the-key")).contains(trouble);
    }
  }

  @Test
  void theKeyIsSent() throws Exception {
    try (HttpServer backend = answering(200)) {
      assertThat(ask(backend.port(), "another-key"))
          .contains("it refuses the hub's key (HTTP 401)");
    }
  }

  @Test
  void whereNothingListensItIsSaid() throws Exception {
    int port;
    try (HttpServer backend = answering(200)) {
      port = backend.port();
    }
    assertThat(ask(port, "the-key")).contains("nothing listens on 127.0.0.1:" + port);
  }

  private static HttpServer answering(int status) throws Exception {
    return HubListener.of(
            Place.loopback(),
            HubListener.LIMITS,
            HubListener.LIMITS::bodyBytesMax,
            List.of(rules ->
                rules.get(
                    "/api/v1/models",
                    (request, response) -> {
                      boolean known =
                          request
                              .headers()
                              .first(io.helidon.http.HeaderNames.AUTHORIZATION)
                              .filter("Bearer the-key"::equals)
                              .isPresent();
                      response.status(known ? status : 401).send();
                    })),
            List.of())
        .start();
  }

  private static Optional<String> ask(int port, String key) {
    URI url = URI.create("http://127.0.0.1:" + port);
    try (Deadlines deadlines = new Deadlines(System::nanoTime).start();
        SocketDialer dialer =
            new SocketDialer(
                url, Optional.empty(), SocketDialer.Limits.DEFAULTS, System::nanoTime)) {
      Target target =
          new Target(
              "backend",
              Target.Kind.BACKEND,
              "m",
              "m",
              "backend",
              "",
              0,
              0,
              0,
              1,
              true,
              Target.Capability.BOTH,
              null,
              key,
              "127.0.0.1:" + port,
              "/api",
              dialer);
      return new BackendProbe(
              () -> List.of(target), _ -> 0, (_, _) -> {}, deadlines, System::nanoTime)
          .ask(target);
    }
  }
}
