package dev.flotilla.hub.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.gateway.TestHub.Setup;
import dev.flotilla.hub.routing.QueueLimits;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.ReceivedRequest;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a client sees that asks for what can't be, or asks badly, or goes away. */
class BadRequestTest {
  private static final Duration SOON = Duration.ofSeconds(5);
  private static final String CHATS = "/v1/chat/completions";

  private final ScriptedEngine engine = ScriptedEngine.start().model("own-name");

  @AfterEach
  void stop() {
    engine.close();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "not json                                                                 | null",
        "[1,2]                                                                    | null",
        "{\"model\":\"public-name\"                                               | null",
        "{\"model\":\"public-name\"}                                              | \"messages\"",
        "{\"model\":\"public-name\",\"messages\":[]}                              | \"messages\"",
        "{\"model\":\"public-name\",\"messages\":\"hi\"}                          | \"messages\"",
        "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}                   | \"model\"",
        "{\"model\":7,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}       | \"model\"",
        "{\"model\":\"public-name\",\"messages\":[{\"role\":\"user\"}],\"n\":100000}               | \"n\"",
        "{\"model\":\"public-name\",\"messages\":[{\"role\":\"user\"}],\"n\":0}                    | \"n\"",
        "{\"model\":\"public-name\",\"messages\":[{\"role\":\"user\"}],\"stream\":\"yes\"}         | \"stream\"",
        "{\"model\":\"public-name\",\"messages\":[{\"content\":\"x\"}]}       | \"messages[0].role\"",
        "{\"tools\":\"x\"}                                                       | \"tools\"",
        "{\"model\":\"public-name\",\"model\":\"b\",\"messages\":[{}]}            | \"model\"",
      })
  void aBodyThatIsNoRequestIsA400ThatNamesTheField(String body, String param) {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      TestClient.Reply reply = client.post(CHATS, body.strip()).reply();

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.header("content-type")).isEqualTo("application/json");
      assertThat(reply.body())
          .startsWith("{\"error\":{\"message\":")
          .contains("\"type\":\"invalid_request_error\"");
      if (!param.equals("null")) {
        assertThat(reply.body()).contains("\"param\":" + param);
      }
      assertThat(client.get("/health").reply().status()).isEqualTo(200);
      assertThat(engine.requests()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"nope", "../../etc/passwd", "a\\u0000b", "public-name/", "<script>"})
  void anUnknownModelIsA404ThatListsTheKnown(String model) {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      String body = "{\"model\":\"%s\",\"messages\":[{\"role\":\"user\"}]}".formatted(model);

      TestClient.Reply reply = client.post(CHATS, body).reply();

      assertThat(reply.status()).isIn(404, 400);
      if (reply.status() == 404) {
        assertThat(reply.body())
            .contains(
                "\"code\":\"model_not_found\"", "known are: public-name", "\"param\":\"model\"");
      }
    }
  }

  @Test
  void aModelsNameOf10000CharactersIsRefusedAndNotRepeated() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      String body = "{\"model\":\"%s\",\"messages\":[{}]}".formatted("x".repeat(10_000));

      TestClient.Reply reply = client.post(CHATS, body).reply();

      assertThat(reply.status()).isIn(400, 404);
      assertThat(reply.body().length()).isLessThan(1000);
    }
  }

  @Test
  void aBodyThatIsTooLargeIsA413AndTheConnectionCloses() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      String body = TestHub.chat("x".repeat(2 << 20), "");

      client.post(CHATS, body);

      TestClient.Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(413);
      assertThat(reply.body()).contains("request_too_large", "larger than 1048576 bytes");
      assertThat(client.untilClosed()).isEmpty();
      assertThat(engine.requests()).isEmpty();
    }
  }

  @Test
  void ofARefusedBodyNoMoreIsAwaitedThanAMoment() {
    Setup setup = new Setup();
    setup.server =
        HubListener.LIMITS.withRequestTimes(HubListener.LIMITS.headTime(), Duration.ofHours(1));
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient client = hub.client()) {
      client.send("POST " + CHATS + " HTTP/1.1\r\nHost: x\r\nContent-Length: 50000000\r\n\r\n{");

      assertThat(client.reply().status()).isEqualTo(413);
      assertThat(client.untilClosed()).as("though the rest never comes").isEmpty();
    }
  }

  @Test
  void aChunkedBodyThatIsTooLargeDesynchronizesNothing() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      client.send(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
      String chunk = "10000\r\n" + "y".repeat(0x10000) + "\r\n";
      for (int i = 0; i < 20; i++) {
        client.send(chunk);
      }
      client.send("0\r\n\r\nGET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");

      TestClient.Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(413);
      assertThat(reply.body()).contains("request_too_large");
      assertThat(client.untilClosed()).isEmpty();
    }
  }

  @Test
  void aChunkedBodyWithinTheLimitIsServed() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      String body = TestHub.chat("x", "");
      client
          .send(
              "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
          .send("5\r\n" + body.substring(0, 5) + "\r\n")
          .send(
              Integer.toHexString(body.length() - 5)
                  + "\r\n"
                  + body.substring(5)
                  + "\r\n0\r\n\r\n");

      assertThat(client.reply().status()).isEqualTo(200);
      assertThat(client.get("/health").reply().status()).isEqualTo(200);
      assertThat(engine.awaitChat(1).bodyText()).contains("own-name");
    }
  }

  @Test
  void chunksThatAreNoneAreA400AndTheConnectionCloses() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      client
          .send(
              "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
          .send("zz\r\nabc\r\n0\r\n\r\n");

      TestClient.Reply reply = client.reply();
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains("malformed_http");
      assertThat(client.untilClosed()).isEmpty();
    }
  }

  @Test
  void twoLengthsOrALengthBesideChunksAreRefused() {
    try (TestHub hub = TestHub.over(engine)) {
      for (String framing :
          new String[] {
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
            "Content-Length: 2\r\nContent-Length: 3\r\n",
            "Content-Length: -1\r\n",
            "Transfer-Encoding: gzip, chunked\r\n"
          }) {
        try (TestClient client = hub.client()) {
          client.send(
              "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n"
                  + framing
                  + "\r\n{}\r\n0\r\n\r\n");

          TestClient.Reply reply = client.reply();
          assertThat(reply.status()).as(framing).isIn(400, 501);
          assertThat(reply.body()).startsWith("{\"error\":{");
          assertThat(client.untilClosed()).isEmpty();
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"GET,/v1/nothing,404", "GET,/v1/chat/completions,405", "GET,/../etc/passwd,404"})
  void aPathOrMethodThatThereIsNotIsAnsweredInJson(String method, String path, int status) {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      TestClient.Reply reply =
          client.send(method + " " + path + " HTTP/1.1\r\nHost: x\r\n\r\n").reply();

      assertThat(reply.status()).isIn(status, 400);
      assertThat(reply.header("content-type")).isEqualTo("application/json");
      assertThat(reply.body()).startsWith("{\"error\":{\"message\":");
    }
  }

  @Test
  void httpThatIsNoneIsAnsweredInJsonToo() {
    try (TestHub hub = TestHub.over(engine)) {
      for (String garbage :
          new String[] {
            "hello\r\n\r\n",
            "GET / HTTP/1.0\r\n\r\n",
            "GET /health HTTP/1.1\r\n\r\n",
            "GET /" + "x".repeat(10_000) + " HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nX: " + "y".repeat(64 << 10) + "\r\n\r\n"
          }) {
        try (TestClient client = hub.client()) {
          client.send(garbage);

          String answer = client.untilClosed();
          assertThat(answer).startsWith("HTTP/1.1 ").contains("{\"error\":{\"message\":");
        }
      }
    }
  }

  @Test
  void aHeadThatDripsIsCutWithA408() {
    Setup setup = new Setup();
    setup.server =
        HubListener.LIMITS.withRequestTimes(Duration.ofMillis(300), Duration.ofSeconds(30));
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient client = hub.client()) {
      client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Slow: ");

      String answer = client.untilClosed();

      assertThat(answer).startsWith("HTTP/1.1 408").contains("the request's head");
    }
  }

  @Test
  void aBodyThatDripsIsCutWithA408() {
    Setup setup = new Setup();
    setup.server =
        HubListener.LIMITS.withRequestTimes(Duration.ofSeconds(30), Duration.ofMillis(300));
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient client = hub.client()) {
      client.send(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"model\"");

      String answer = client.untilClosed();

      assertThat(answer).startsWith("HTTP/1.1 408").contains("the request's body");
    }
  }

  @Test
  void aClientThatLeavesWhileItWaitsLeavesTheQueue() {
    Setup setup = new Setup();
    setup.slots = 1;
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient running = hub.client();
        TestClient waiting = hub.client()) {
      engine.whenChat(Script.answer("x").stallBeforeHead(gate));
      running.post(CHATS, TestHub.chat("x", ""));
      engine.awaitChat(1);
      waiting.post(CHATS, TestHub.chat("y", ""));
      await().until(() -> !hub.dispatcher.waiting().isEmpty());

      waiting.abandon();

      await().until(() -> hub.dispatcher.waiting().isEmpty());
      gate.open();
      assertThat(running.reply().status()).isEqualTo(200);
      assertThat(engine.chats()).hasSize(1);
      assertThat(hub.usage(1).outcome()).isEqualTo("client-gone");
      assertThat(hub.usage(1).status()).isEqualTo(499);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void aClientThatLeavesStopsAnEngineThatIsSilent(String more) {
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      engine.whenChat(Script.answer("x").stallBeforeHead(gate));
      client.post(CHATS, TestHub.chat("x", more));
      ReceivedRequest request = engine.awaitChat(1);

      client.abandon();

      request.awaitGone(SOON);
      await().until(() -> hub.ledger.inFlight() == 0);
      assertThat(hub.usage(1).outcome()).isEqualTo("client-gone");
      assertThat(hub.events).isEmpty();
    }
  }

  @Test
  void aClientThatLeavesInMidStreamStopsTheEngine() {
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      engine.whenChat(Script.answer("one", "two").stallAfter(1, gate));
      client.post(CHATS, TestHub.chat("x", ",\"stream\":true"));
      client.replyHead();
      client.event();
      assertThat(client.event()).contains("one");

      client.reset();

      engine.awaitChat(1).awaitGone(SOON);
      assertThat(hub.usage(1).outcome()).isEqualTo("client-gone");
      assertThat(hub.dispatcher.loads().getFirst().failed()).isZero();
    }
  }

  @Test
  void aClientThatLeavesBeforeItsBodyIsWholeReachesNoEngine() {
    try (TestHub hub = TestHub.over(engine)) {
      TestClient client = hub.client();
      client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
      client.abandon();

      assertThat(hub.usage(1).outcome()).isEqualTo("client-gone");
      assertThat(engine.requests()).isEmpty();
    }
  }

  @Test
  void aFullQueueIsA429WithItsLimitAndWhenToComeBack() {
    Setup setup = new Setup();
    setup.slots = 1;
    setup.queue = new QueueLimits(1, 1, Duration.ofSeconds(30));
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient running = hub.client();
        TestClient waiting = hub.client()) {
      engine.whenChat(Script.answer("x").stallBeforeHead(gate));
      running.post(CHATS, TestHub.chat("x", ""));
      engine.awaitChat(1);
      waiting.post(CHATS, TestHub.chat("x", ""));
      await().until(() -> !hub.dispatcher.waiting().isEmpty());

      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(429);
      assertThat(reply.body()).contains("queue_full", "there is 1 request waiting");
      assertThat(Integer.parseInt(reply.header("retry-after"))).isPositive();
      gate.open();
      assertThat(waiting.reply().status()).isEqualTo(200);
    }
  }

  @Test
  void whoWaitsTooLongIsA429ThatNamesTheLimit() {
    Setup setup = new Setup();
    setup.slots = 1;
    setup.queue = new QueueLimits(8, 8, Duration.ofMillis(100));
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient running = hub.client()) {
      engine.whenChat(Script.answer("x").stallBeforeHead(gate));
      running.post(CHATS, TestHub.chat("x", ""));
      engine.awaitChat(1);

      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(429);
      assertThat(reply.body()).contains("queue_wait_exceeded", "limits.queue.wait");
      gate.open();
    }
  }

  @Test
  void aModelThatNothingServesIsA503ThatSaysWhy() {
    try (TestHub hub = TestHub.over()) {
      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(503);
      assertThat(reply.body()).contains("model_not_serving", "no worker of public-name is up");
      assertThat(reply.header("retry-after")).isEqualTo("5");
    }
  }

  @Test
  void aPromptThatSurelyFitsIsSentUncounted() {
    try (TestHub hub = TestHub.over(engine)) {
      hub.chat("short");

      assertThat(engine.requests()).hasSize(1);
    }
  }

  @Test
  void aPromptInDoubtIsCountedByAWorkerAndRefusedWithBothNumbers() {
    Setup setup = new Setup();
    setup.contextTokens = 1000;
    engine.contextTokens(1000);
    try (TestHub hub = TestHub.over(setup, engine)) {
      TestClient.Reply fits = hub.chat("word ".repeat(500));
      assertThat(fits.status()).isEqualTo(200);
      assertThat(engine.requests("/tokenize")).hasSize(1);

      TestClient.Reply reply = hub.chat("word ".repeat(1500));

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body())
          .contains("\"code\":\"context_length_exceeded\"", "context is 1000 tokens")
          .containsPattern("the prompt has 15\\d\\d tokens");
      assertThat(engine.chats()).hasSize(1);
    }
  }

  @Test
  void aPromptThatSurelyDoesNotFitIsRefusedUncounted() {
    Setup setup = new Setup();
    setup.contextTokens = 1000;
    try (TestHub hub = TestHub.over(setup, engine)) {
      TestClient.Reply reply = hub.chat("word ".repeat(50_000));

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body())
          .contains("context_length_exceeded", "context is 1000 tokens", "at least ");
      assertThat(engine.requests()).isEmpty();
    }
  }

  @Test
  void anEnginesOwnRefusalOfALongPromptBecomesTheSame400() {
    try (TestHub hub = TestHub.over(engine)) {
      engine.whenChat(Script.contextOverflow(5000, 4096), Script.contextOverflowAsVllm(6000, 4096));

      for (int prompt : new int[] {5000, 6000}) {
        TestClient.Reply reply = hub.chat("x");
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.body())
            .contains("context_length_exceeded", prompt + " tokens", "4096 tokens");
      }
      assertThat(hub.dispatcher.loads().getFirst().failed()).isZero();
    }
  }

  @Test
  void anEnginesRefusalOfTheClientsMistakeIsPassedInItsWords() {
    try (TestHub hub = TestHub.over(engine)) {
      engine.whenChat(Script.error(400, "invalid_request_error", "top_k is no number"));

      TestClient.Reply reply = hub.chat("x");

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains("top_k is no number", "\"type\":\"invalid_request_error\"");
      assertThat(hub.dispatcher.loads().getFirst().setAsideMillis()).isZero();
    }
  }

  @Test
  void oneKeyMayHaveOnlySoManyRequestsOpen() {
    Setup setup = new Setup();
    setup.gateway = GatewayLimits.DEFAULTS.withRequestsPerKey(1);
    setup.keys = knows("laptop", "desk");
    Gate gate = Gate.closed();
    engine.whenChat(Script.stallThen(gate, Script.answer("one")));
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient first = hub.client();
        TestClient second = hub.client();
        TestClient other = hub.client()) {
      first.post("/v1/chat/completions", TestHub.chat("x", ""), "Authorization: Bearer laptop");
      engine.awaitChat(1);

      TestClient.Reply refused =
          second
              .post("/v1/chat/completions", TestHub.chat("x", ""), "Authorization: Bearer laptop")
              .reply();

      assertThat(refused.status()).isEqualTo(429);
      assertThat(refused.body())
          .contains("key_requests_open", "1 request open, which is the limit for one key");
      assertThat(refused.header("retry-after")).isEqualTo("1");
      other.post("/v1/chat/completions", TestHub.chat("x", ""), "Authorization: Bearer desk");
      engine.awaitChat(2);
      gate.open();
      assertThat(first.reply().status()).isEqualTo(200);
      assertThat(other.reply().status()).isEqualTo(200);
      try (TestClient again = hub.client()) {
        assertThat(
                again
                    .post(
                        "/v1/chat/completions",
                        TestHub.chat("x", ""),
                        "Authorization: Bearer laptop")
                    .reply()
                    .status())
            .isEqualTo(200);
      }
    }
  }

  private static Authenticator knows(String... names) {
    return new Authenticator() {
      @Override
      public boolean required() {
        return true;
      }

      @Override
      public Optional<ClientKey> authenticate(String bearer) {
        return List.of(names).contains(bearer)
            ? Optional.of(new ClientKey(bearer))
            : Optional.empty();
      }
    };
  }
}
