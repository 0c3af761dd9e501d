package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.client.TestClient.Reply;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that are refused for the way in which they were made, and the model's own page. */
class WayInTest {
  private static final String CHATS = "/v1/chat/completions";
  private static final String CHAT = "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";

  @TempDir private Path folder;
  private LetterServer server;
  private TestClient client;

  @BeforeEach
  void serve() {
    server = LetterServer.start(LetterModel.served(folder));
    client = server.client();
  }

  @AfterEach
  void end() {
    client.close();
    server.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 50000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"})
  void aBodyThatIsTooLargeIsSentToItsEndAndItsRefusalIsRead(String framing) {
    client.send("POST " + CHATS + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + framing);
    byte[] piece = new byte[1_000_000];
    for (int i = 0; i < 50; i++) {
      if (framing.startsWith("T")) {
        client.send(Integer.toHexString(piece.length) + "\r\n").send(piece).send("\r\n");
      } else {
        client.send(piece);
      }
    }
    Reply reply = client.reply();
    assertThat(reply.status()).isEqualTo(413);
    assertThat(reply.body()).contains("request_too_large", "16777216 bytes");
    assertThat(reply.header("connection")).isEqualTo("close");
  }

  @Test
  void aRefusalBeforeTheBodyIsReadToo() {
    try (LetterServer keyed =
            LetterServer.start(LetterModel.served(folder), "secret", ServeLimits.DEFAULT);
        TestClient stranger = keyed.client()) {
      stranger.post(CHATS, " ".repeat(8_000_000));
      Reply reply = stranger.reply();
      assertThat(reply.status()).isEqualTo(401);
      assertThat(reply.header("www-authenticate")).isEqualTo("Bearer");
      assertThat(reply.header("connection")).isEqualTo("close");
    }
  }

  @Test
  void anEncodedBodyIsA415ThatSaysWhatToDo() {
    Reply reply = client.post(CHATS, CHAT, "Content-Encoding: gzip").reply();
    assertThat(reply.status()).isEqualTo(415);
    assertThat(reply.body()).contains("unsupported_content_encoding", "send it uncompressed");
  }

  @Test
  void aBodyThatSaysThatItIsAsItIsIsRead() {
    Reply reply = client.post(CHATS, CHAT, "Content-Encoding: identity").reply();
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/models,200",
    "/v1/models/letters,200",
    "/v1/models/others,404",
    "/metrics,200",
    "/health,200",
    "/v1/chat/completions,405",
    "/nothing,404"
  })
  void aHeadIsAGetWithoutItsBody(String path, int status) {
    Reply head = client.send("HEAD " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").replyHead();
    Reply get = client.get(path).reply();
    assertThat(get.status()).as("what comes next on the connection").isEqualTo(status);
    assertThat(head.status()).isEqualTo(status);
    assertThat(head.header("content-type")).isEqualTo(get.header("content-type"));
    if (!path.equals("/metrics") && !path.equals("/nothing")) {
      assertThat(head.header("content-length")).isEqualTo(get.header("content-length"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "GET,/v1/chat/completions,POST",
    "PUT,/v1/completions,POST",
    "DELETE,/v1/embeddings,POST",
    "GET,/tokenize,POST",
    "POST,/v1/models,'GET, HEAD'",
    "DELETE,/v1/models/letters,'GET, HEAD'",
    "POST,/health,'GET, HEAD'"
  })
  void anotherMethodIsA405ThatNamesTheRightOne(String method, String path, String allowed) {
    client.send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n");
    Reply reply = client.reply();
    assertThat(reply.status()).isEqualTo(405);
    assertThat(reply.header("allow")).isEqualTo(allowed);
    assertThat(reply.body())
        .contains("method_not_allowed", "called with " + allowed.replace(", ", " or "));
    assertThat(client.get("/health").reply().status()).as("the connection is kept").isEqualTo(200);
  }

  @Test
  void aPathThatIsNotThereIsA404() {
    Reply reply = client.post("/v1/responses", "{}").reply();
    assertThat(reply.status()).isEqualTo(404);
    assertThat(reply.body()).contains("/v1/responses", "is not served here");
  }

  @Test
  void aHeadThatIsTooLargeIsA431() {
    Reply reply = client.get("/v1/models", "X-Long: " + "x".repeat(40_000)).reply();
    assertThat(reply.status()).isEqualTo(431);
    assertThat(reply.body()).contains("headers_too_large", "32768 bytes");
  }

  @ParameterizedTest
  @ValueSource(strings = {"head", "body"})
  void aRequestThatDoesNotComeToItsEndIsA408(String part) {
    String begun = "POST " + CHATS + " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    String sent = begun + (part.equals("head") ? "X-Slow: " : "Content-Length: 9\r\n\r\n{");
    // long for a request that comes whole, on a machine that is busy with others
    Duration time = Duration.ofSeconds(2);
    try (LetterServer hasty =
            LetterServer.start(LetterModel.served(folder), "", requestTimes(time));
        TestClient slow = hasty.client();
        TestClient other = hasty.client()) {
      assertThat(slow.get("/health").reply().status()).isEqualTo(200);
      slow.send(sent);
      String answer = slow.untilClosed();
      assertThat(answer)
          .startsWith("HTTP/1.1 408 Request Timeout\r\n")
          .contains("request_timeout", "the request's " + part + " did not arrive in time");
      assertThat(other.get("/health").reply().status()).isEqualTo(200);
      assertThat(other.isKeptOpenFor(time.plusMillis(500))).as("between requests").isTrue();
    }
  }

  private static ServeLimits requestTimes(Duration time) {
    return ServeLimits.of(ServeLimits.DEFAULT.server().withRequestTimes(time, time));
  }

  @Test
  void aFirstLineThatIsTooLongIsA414() {
    Reply reply = client.get("/v1/models?" + "x".repeat(10_000)).reply();
    assertThat(reply.status()).isEqualTo(414);
    assertThat(reply.body()).contains("uri_too_long", "8192 bytes");
  }

  @ParameterizedTest
  @CsvSource({
    "evil.example,403",
    "evil.example:8485,403",
    "127.0.0.1.evil.example,403",
    "localhost:8485,200",
    "studio.local,200",
    "10.0.0.7,200"
  })
  void aServerWithoutAKeyAnswersToItsOwnNamesAlone(String host, int status) {
    client.send("GET /v1/models HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    Reply reply = client.reply();
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.body()).contains(status == 200 ? "letters" : "host_not_allowed");
    client.send("GET /health HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    assertThat(client.reply().status()).as("health tells no secret").isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource({"https://evil.example,403", "null,403", "vscode-webview://editor,200"})
  void aServerWithoutAKeyComputesForNoPageOfAnotherSite(String origin, int status) {
    String body = "{\"prompt\":\"a\",\"max_tokens\":1}";
    client.send(
        "POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nOrigin: "
            + origin
            + "\r\nContent-Length: "
            + body.length()
            + "\r\n\r\n"
            + body);
    Reply reply = client.reply();
    assertThat(reply.status()).isEqualTo(status);
    assertThat(reply.body()).contains(status == 200 ? "text_completion" : "origin_not_allowed");
  }

  @Test
  void aServerWithAKeyMayBeCalledByAnyName() {
    try (LetterServer keyed =
            LetterServer.start(LetterModel.served(folder), "secret", ServeLimits.DEFAULT);
        TestClient known = keyed.client()) {
      known.send(
          "GET /v1/models HTTP/1.1\r\nHost: llm.example\r\nAuthorization: Bearer secret\r\n\r\n");
      assertThat(known.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void theModelHasAPageOfItsOwnWithTheTimeOfItsStart() {
    String model = client.get("/v1/models/letters").reply().body();
    assertThat(model)
        .contains("\"id\":\"letters\"", "\"object\":\"model\"")
        .contains("\"created\":" + LetterServer.STARTED);
    assertThat(client.get("/v1/models").reply().body()).contains("\"data\":[" + model + "]");
    Reply none = client.get("/v1/models/other").reply();
    assertThat(none.status()).isEqualTo(404);
    assertThat(none.body()).contains("model_not_found", "letters", "\"param\":\"model\"");
  }

  @Test
  void aClientThatSaysThatItClosesIsClosed() {
    client.get("/v1/models", "Connection: close");
    assertThat(client.untilClosed()).contains("letters");
  }
}
