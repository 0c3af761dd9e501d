package dev.flotilla.bench.launch;

import dev.flotilla.wire.connection.SocketConnection;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Asks an engine on a loopback port whether it can serve: {@code /health}, where it has one, then
 * {@code /v1/models}, then for one token. The last is what proves it: some list models, or say that
 * they are healthy, while they load.
 */
final class ReadyQuestion {
  private static final Duration CONNECT_WITHIN = Duration.ofSeconds(1);
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(5);
  private static final int REPLY_BYTES_MAX = 4 << 20;

  private final int port;
  private final List<String> wanted;

  /**
   * @param wanted what the model may be called, the likeliest first: that is asked for which the
   *     engine lists, or the only one that it lists
   */
  ReadyQuestion(int port, List<String> wanted) {
    this.port = port;
    this.wanted = wanted;
  }

  /** What was found. */
  sealed interface Answer {
    /** It gave a token. */
    record Ready(String model) implements Answer {}

    /** Not yet; {@code what} was seen. */
    record NotYet(String what) implements Answer {}
  }

  /**
   * Asks once.
   *
   * @param tokenWithin how long the one token may take: an engine may load the model for it
   */
  Answer ask(Duration tokenWithin) {
    try {
      Reply health = send(HttpCall.get("/health", HttpHeaders.NONE), ANSWER_WITHIN);
      if (health.status() != 200 && health.status() != 404) {
        return new Answer.NotYet("GET /health gave " + health.status());
      }
      Reply models = send(HttpCall.get("/v1/models", HttpHeaders.NONE), ANSWER_WITHIN);
      if (models.status() != 200) {
        return new Answer.NotYet("GET /v1/models gave " + models.status());
      }
      String model = chosen(models.json());
      Reply token = send(oneToken(model), tokenWithin);
      if (token.status() == 200 && token.json().path("choices").isArray()) {
        return new Answer.Ready(model);
      }
      return new Answer.NotYet(
          "a request for one token gave %d%s"
              .formatted(
                  token.status(),
                  Optional.of(message(token.body()))
                      .filter(m -> !m.isEmpty())
                      .map(m -> ": " + m)
                      .orElse("")));
    } catch (IOException e) {
      return new Answer.NotYet("no answer on port " + port + " yet (" + e.getMessage() + ")");
    } catch (JacksonException e) {
      return new Answer.NotYet("it answers, but in no JSON");
    }
  }

  private String chosen(JsonNode models) {
    List<String> ids =
        models.path("data").valueStream().map(each -> each.path("id").asString("")).toList();
    if (ids.size() == 1 && !ids.getFirst().isEmpty()) {
      return ids.getFirst();
    }
    return wanted.stream().filter(ids::contains).findFirst().orElse(wanted.getFirst());
  }

  private static String message(String body) {
    try {
      String said = JsonMapper.shared().readTree(body).at("/error/message").asString("");
      return said.substring(0, Math.min(said.length(), 200));
    } catch (JacksonException e) {
      return "";
    }
  }

  private static HttpCall oneToken(String model) {
    ObjectNode body =
        JsonMapper.shared().createObjectNode().put("model", model).put("max_tokens", 1);
    body.putArray("messages").addObject().put("role", "user").put("content", "Hi");
    return HttpCall.post(
        "/v1/chat/completions",
        HttpHeaders.of("Content-Type", "application/json"),
        body.toString().getBytes(StandardCharsets.UTF_8));
  }

  private record Reply(int status, String body) {
    JsonNode json() {
      return JsonMapper.shared().readTree(body);
    }
  }

  private Reply send(HttpCall call, Duration within) throws IOException {
    try (Socket socket = new Socket()) {
      socket.connect(
          new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
          Math.toIntExact(CONNECT_WITHIN.toMillis()));
      socket.setSoTimeout(Math.clamp(within.toMillis(), 1, Integer.MAX_VALUE));
      try (Http1 client =
          new Http1(new SocketConnection(socket), "127.0.0.1:" + port, Http1Limits.DEFAULTS)) {
        HttpReply reply = client.exchange(call);
        String body = new String(reply.body().readNBytes(REPLY_BYTES_MAX), StandardCharsets.UTF_8);
        return new Reply(reply.status(), body);
      }
    }
  }
}
