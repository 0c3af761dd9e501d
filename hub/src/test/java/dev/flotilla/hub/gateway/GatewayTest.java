package dev.flotilla.hub.gateway;

import static dev.flotilla.hub.gateway.TestHub.MODEL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.gateway.TestHub.Setup;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.ReceivedRequest;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The way of a request when nothing goes wrong, and what clients see of it. */
class GatewayTest {
  private final ScriptedEngine engine = ScriptedEngine.start().model("own-name");

  @AfterEach
  void stop() {
    engine.close();
  }

  @Test
  void aChatIsAnsweredUnderThePublicName() {
    try (TestHub hub = TestHub.over(engine)) {
      engine.whenChat(Script.answer("Hello ", "you"));

      TestClient.Reply reply = hub.chat("Say hi");

      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.body())
          .contains("\"model\":\"public-name\"", "Hello you")
          .doesNotContain("own-name");
      assertThat(reply.header("content-type")).isEqualTo("application/json");
      assertThat(reply.header("x-flotilla-worker")).isEqualTo("a");
      assertThat(reply.header("x-flotilla-attempts")).isEqualTo("1");
      assertThat(reply.header("x-flotilla-revision")).isEqualTo("1");
      assertThat(reply.header("x-request-id")).startsWith("req-");
    }
  }

  @Test
  void theBodyReachesTheEngineByteForByteButForTheModelsName() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      String body =
          "{ \"zzz_unknown\": [1, 2.50, {\"a\":null}],\n \"model\" : \"public-name\" , "
              + "\"messages\":[{\"role\":\"user\",\"content\":\"\\u00e9\",\"x\":true}],\"temperature\": 0.0}";

      client.post("/v1/chat/completions", body).reply();

      assertThat(engine.awaitChat(1).bodyText())
          .isEqualTo(body.replace("\"public-name\"", "\"own-name\""));
    }
  }

  @Test
  void ofTheClientsHeadersOnlyHarmlessOnesReachTheEngine() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      client
          .post(
              "/v1/chat/completions",
              TestHub.chat("x", ""),
              "Authorization: Bearer client-secret",
              "Cookie: a=b",
              "X-Conversation-Id: abc",
              "Upgrade: h2c",
              "HTTP2-Settings: AAMAAABkAAQAAP__",
              "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
              "x-request-id: mine-7")
          .reply();

      ReceivedRequest got = engine.awaitChat(1);
      assertThat(got.headers().first("authorization")).contains("Bearer engine-key");
      assertThat(got.headers().first("x-request-id")).contains("mine-7");
      assertThat(got.headers().first("traceparent")).isPresent();
      for (String name : List.of("cookie", "x-conversation-id", "upgrade", "http2-settings")) {
        assertThat(got.headers().first(name)).as(name).isEmpty();
      }
    }
  }

  @Test
  void aStreamComesEventByEventUnderThePublicNameAndEndsWithDone() {
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      engine.whenChat(Script.answer("one", "two").gated(gate));

      client.post("/v1/chat/completions", TestHub.chat("x", ",\"stream\":true"));

      TestClient.Reply head = client.replyHead();
      assertThat(head.header("content-type")).startsWith("text/event-stream");
      assertThat(head.header("x-flotilla-worker")).isEqualTo("a");
      assertThat(client.event()).contains("\"role\":\"assistant\"", "\"model\":\"public-name\"");
      gate.pass(1);
      assertThat(client.event()).contains("one", "\"model\":\"public-name\"");
      gate.pass(1);
      assertThat(client.event()).contains("two");
      assertThat(client.event()).contains("\"finish_reason\":\"stop\"");
      assertThat(client.event()).isEqualTo("[DONE]");
    }
  }

  @Test
  void theSameConnectionCarriesOneRequestAfterTheOther() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      for (int i = 0; i < 3; i++) {
        TestClient.Reply streamed =
            client.post("/v1/chat/completions", TestHub.chat("x", ",\"stream\":true")).reply();
        assertThat(streamed.body()).endsWith("data: [DONE]\n\n");
        assertThat(client.post("/v1/chat/completions", TestHub.chat("x", "")).reply().status())
            .isEqualTo(200);
      }
      assertThat(engine.connections()).isEqualTo(1);
    }
  }

  @Test
  void twoPipelinedRequestsAreAnsweredInTheirOrder() {
    Gate gate = Gate.closed();
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      engine.whenChat(Script.answer("first").stallBeforeHead(gate), Script.answer("second"));

      client.post("/v1/chat/completions", TestHub.chat("1", ""));
      gate.awaitArrived(1);
      client.post("/v1/chat/completions", TestHub.chat("2", ""));
      gate.open();

      assertThat(client.reply().body()).contains("first");
      assertThat(client.reply().body()).contains("second");
    }
  }

  @Test
  void aConnectionThatAsksToBeClosedIsClosedAfterTheReply() {
    try (TestHub hub = TestHub.over(engine)) {
      for (String more : List.of("", ",\"stream\":true")) {
        try (TestClient client = hub.client()) {
          client.post("/v1/chat/completions", TestHub.chat("x", more), "Connection: close");

          assertThat(client.untilClosed()).contains("200 OK", "Connection: close");
        }
      }
      try (TestClient client = hub.client()) {
        client.get("/health", "Connection: close");

        assertThat(client.untilClosed()).contains("\"status\":\"ok\"");
      }
    }
  }

  @Test
  void theUsageThatOnlyTheHubAskedForIsNotShown() {
    Setup setup = new Setup();
    setup.engine = "backend";
    try (TestHub hub = TestHub.over(setup, engine)) {
      TestClient.Reply plain = hub.stream("one two three");

      assertThat(engine.awaitChat(1).bodyText()).contains("\"include_usage\":true");
      assertThat(plain.body()).doesNotContain("prompt_tokens").endsWith("data: [DONE]\n\n");
      assertThat(hub.usage(1).promptTokens()).isPositive();

      try (TestClient client = hub.client()) {
        String asking = ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";
        TestClient.Reply asked =
            client.post("/v1/chat/completions", TestHub.chat("x", asking)).reply();
        assertThat(asked.body()).contains("\"prompt_tokens\"");
      }
    }
  }

  @Test
  void whatWasUsedIsLogged() {
    Setup setup = new Setup();
    setup.keys = keys("secret", "alice");
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient client = hub.client()) {
      engine.whenChat(Script.chunks(12));

      client
          .post(
              "/v1/chat/completions",
              TestHub.chat("one two", ",\"stream\":true"),
              "Authorization: Bearer secret")
          .reply();

      assertThat(hub.usage(1).key()).isEqualTo("alice");
      assertThat(hub.usage(1).model()).isEqualTo(MODEL);
      assertThat(hub.usage(1).outcome()).isEqualTo("ok");
      assertThat(hub.usage(1).completionTokens()).isEqualTo(12);
      assertThat(hub.usage(1).firstByteMicros()).isPositive();
      assertThat(hub.usage(1).target()).isEqualTo("a");
    }
  }

  @Test
  void withoutAKeyNothingIsAnsweredWhereKeysAreDemanded() {
    Setup setup = new Setup();
    setup.keys = keys("secret", "alice");
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient client = hub.client();
        TestClient wrong = hub.client()) {
      TestClient.Reply without = client.post("/v1/chat/completions", TestHub.chat("x", "")).reply();
      assertThat(without.status()).isEqualTo(401);
      assertThat(without.body()).contains("\"code\":\"invalid_api_key\"", "a key is needed");

      TestClient.Reply unknown = wrong.get("/v1/models", "Authorization: Bearer guess").reply();
      assertThat(unknown.status()).isEqualTo(401);
      assertThat(unknown.body()).contains("not valid").doesNotContain("guess");
      assertThat(engine.requests()).isEmpty();
    }
  }

  @Test
  void modelsAreListedByTheirPublicNames() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      hub.fleet.awaited("team/other:7b", 1);

      assertThat(client.get("/v1/models").reply().body())
          .isEqualTo(
              "{\"object\":\"list\",\"data\":["
                  + "{\"id\":\"public-name\",\"object\":\"model\",\"created\":1700000000,"
                  + "\"owned_by\":\"flotilla\"},"
                  + "{\"id\":\"team/other:7b\",\"object\":\"model\",\"created\":1700000000,"
                  + "\"owned_by\":\"flotilla\"}]}");
      assertThat(client.get("/v1/models/team/other:7b").reply().body())
          .contains("\"id\":\"team/other:7b\"");
      TestClient.Reply unknown = client.get("/v1/models/nope").reply();
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.body()).contains("model_not_found");
    }
  }

  @Test
  void aHeadIsAGetWithoutItsBody() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      for (String path :
          List.of("/v1/models", "/v1/models/public-name", "/v1/models/nope", "/health", "/ready")) {
        TestClient.Reply head =
            client.send("HEAD " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").replyHead();
        TestClient.Reply get = client.get(path).reply();

        assertThat(head.status()).as(path).isEqualTo(get.status());
        assertThat(head.header("content-type")).as(path).isEqualTo("application/json");
        assertThat(head.header("content-length")).as(path).isEqualTo(get.header("content-length"));
      }
    }
  }

  @Test
  void aBodyThatSaysThatItIsAsItIsIsRead() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      engine.whenChat(Script.answer("Hello"));
      TestClient.Reply reply =
          client
              .post("/v1/chat/completions", TestHub.chat("x", ""), "Content-Encoding: identity")
              .reply();

      assertThat(reply.status()).as(reply.body()).isEqualTo(200);
      assertThat(engine.awaitChat(1).headers().first("content-encoding")).isEmpty();
    }
  }

  @Test
  void readyIsTrueOnceARequestCanBeServed() {
    try (TestHub hub = TestHub.over();
        TestClient client = hub.client()) {
      TestClient.Reply before = client.get("/ready").reply();
      assertThat(before.status()).isEqualTo(503);
      assertThat(before.body()).contains("\"ready\":false", "no worker of public-name is up");

      hub.serve(engine);

      TestClient.Reply after = client.get("/ready").reply();
      assertThat(after.status()).isEqualTo(200);
      assertThat(after.body()).contains("\"serving\":[\"public-name\"]");
      assertThat(client.get("/health").reply().body()).isEqualTo("{\"status\":\"ok\"}");
    }
  }

  @Test
  void metricsTellDurationsTokensAndQueues() {
    try (TestHub hub = TestHub.over(engine);
        TestClient client = hub.client()) {
      hub.stream("x");
      hub.usage(1);

      String metrics = client.get("/metrics").reply().body();

      assertThat(metrics)
          .contains(
              "gen_ai_server_request_duration_seconds_count",
              "gen_ai_server_time_to_first_token_seconds_count",
              "gen_ai_client_token_usage",
              "flotilla_queue_depth{gen_ai_request_model=\"public-name\"} 0",
              "flotilla_target_in_flight{target=\"a\"} 0");
    }
  }

  @Test
  void embeddingsGoWhereTheyCanBeMadeElseTheModelIsNamed() {
    Setup setup = new Setup();
    setup.capability = dev.flotilla.hub.routing.Target.Capability.EMBEDDINGS;
    String body = "{\"model\":\"public-name\",\"input\":\"some text\"}";
    try (TestHub able = TestHub.over(setup, engine);
        TestHub unable = TestHub.over(engine);
        TestClient client = able.client();
        TestClient other = unable.client()) {
      TestClient.Reply reply = client.post("/v1/embeddings", body).reply();
      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.body()).contains("\"embedding\"", "\"model\":\"public-name\"");

      TestClient.Reply refused = other.post("/v1/embeddings", body).reply();
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.body()).contains("model 'public-name' has no embeddings");
    }
  }

  @Test
  void aTextThatIsTooLongForAVectorIsToldWithBothNumbersAndItsOwnField() {
    Setup setup = new Setup();
    setup.capability = dev.flotilla.hub.routing.Target.Capability.EMBEDDINGS;
    engine.always(
        "/v1/embeddings",
        Script.error(
            400,
            "invalid_request_error",
            "a text of the input has 3001 tokens, and a text has 1024 at most"));
    try (TestHub hub = TestHub.over(setup, engine);
        TestClient client = hub.client()) {
      TestClient.Reply reply =
          client.post("/v1/embeddings", "{\"model\":\"public-name\",\"input\":\"word\"}").reply();

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body())
          .contains("context_length_exceeded", "3001 tokens", "1024 tokens at most")
          .contains("\"param\":\"input\"");
    }
  }

  @Test
  void aRequestWaitsForAWorkerThatIsComing() {
    try (TestHub hub = TestHub.over();
        TestClient client = hub.client()) {
      hub.fleet.awaited(MODEL, 1);
      client.post("/v1/chat/completions", TestHub.chat("x", ""));
      await().until(() -> hub.dispatcher.waiting().containsKey(MODEL));

      hub.serve(engine);

      assertThat(client.reply().status()).isEqualTo(200);
    }
  }

  private static Authenticator keys(String secret, String name) {
    return new Authenticator() {
      @Override
      public boolean required() {
        return true;
      }

      @Override
      public Optional<ClientKey> authenticate(String bearer) {
        return bearer.equals(secret) ? Optional.of(new ClientKey(name)) : Optional.empty();
      }
    };
  }
}
