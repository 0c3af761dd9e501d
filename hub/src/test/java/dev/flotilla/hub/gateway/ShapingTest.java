package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.gateway.TestHub.Setup;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.scripted.Exchange;
import dev.flotilla.testkit.scripted.Gate;
import dev.flotilla.testkit.scripted.ReceivedRequest;
import dev.flotilla.testkit.scripted.Script;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** vLLM and mlx-lm behind a name: what clients see of them, and what they see of clients. */
class ShapingTest {
  private static final JsonMapper JSON = JsonMapper.builder().build();
  private static final String CHATS = "/v1/chat/completions";
  private static final String STREAM = ",\"stream\":true";
  private static final String USAGE =
      ",\"stream\":true,\"stream_options\":{\"include_usage\":true}";

  private final ScriptedEngine engine = ScriptedEngine.start();
  private final ScriptedEngine other = ScriptedEngine.start();

  @AfterEach
  void stop() {
    engine.close();
    other.close();
  }

  @Test
  void vllmsReasoningIsWhereTheNamePromisesIt() {
    engine.alwaysChat(
        vllm(
            "{\"role\":\"assistant\",\"content\":\"\"}",
            "{\"reasoning\":\"Hm\"}",
            "{\"content\":\"Paris\"}"));
    try (TestHub hub = hub("vllm", Reasoning.REASONING_CONTENT)) {
      TestClient.Reply reply = hub.stream("x");

      assertThat(reply.body())
          .contains(
              "{\"role\":\"assistant\",\"content\":null}",
              "{\"reasoning_content\":\"Hm\"}",
              "{\"content\":\"Paris\"}",
              "\"finish_reason\":\"stop\"",
              "\"model\":\"public-name\"")
          .doesNotContain("token_ids", "\"reasoning\"", "usage")
          .endsWith("data: [DONE]\n\n");
    }
    try (TestHub hub = hub("vllm", Reasoning.INLINE)) {
      assertThat(hub.stream("x").body())
          .contains("{\"content\":\"<think>\\nHm\"}", "{\"content\":\"\\n</think>\\n\\nParis\"}");
    }
  }

  @Test
  void mlxLmIsAskedForAStreamAndItsAnswerPutTogether() {
    engine.alwaysChat(mlx(null, "I", "'m", " glad"));
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE)) {
      TestClient.Reply reply = hub.chat("x");

      JsonNode sent = JSON.readTree(engine.awaitChat(1).bodyText());
      assertThat(sent.path("stream").asBoolean()).isTrue();
      assertThat(sent.path("stream_options").path("include_usage").asBoolean()).isTrue();
      assertThat(sent.path("model").asString()).isEqualTo("default_model");
      assertThat(reply.header("content-type")).isEqualTo("application/json");
      JsonNode told = JSON.readTree(reply.body());
      assertThat(told.path("object").asString()).isEqualTo("chat.completion");
      assertThat(told.path("choices").path(0).path("message").toString())
          .isEqualTo("{\"role\":\"assistant\",\"content\":\"I'm glad\"}");
      assertThat(told.path("usage").path("completion_tokens").asInt()).isEqualTo(4);
      assertThat(reply.body()).doesNotContain("KERNEL");
      assertThat(hub.usage(1).completionTokens()).isEqualTo(4);
    }
  }

  @Test
  void whoLeavesWhileItIsPutTogetherStopsTheEngine() {
    Gate gate = Gate.closed();
    engine.alwaysChat(mlx(gate, "I", "'m", " glad"));
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE)) {
      try (TestClient client = hub.client()) {
        client.post(CHATS, TestHub.chat("x", ""));
        gate.awaitArrived(1);
      }
      assertThat(hub.usage(1).outcome()).isEqualTo("client-gone");
      await().until(() -> hub.ledger.inFlight() == 0);
      gate.open();
    }
  }

  @Test
  void aStopStringEndsMlxLmsAnswerWhereverItsTokensEnd() {
    Gate gate = Gate.closed();
    engine.whenChat(
        mlx(gate, "The", " capital of F", "rance", " is Paris."),
        Script.json(
            200,
            "{\"object\":\"chat.completion\",\"choices\":[],\"usage\":{\"prompt_tokens\":37,\"completion_tokens\":1,\"total_tokens\":38}}"));
    gate.pass(3);
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE);
        TestClient client = hub.client()) {
      JsonNode told =
          JSON.readTree(client.post(CHATS, TestHub.chat("x", ",\"stop\":\"Fra\"")).reply().body());

      assertThat(told.path("choices").path(0).path("message").path("content").asString())
          .isEqualTo("The capital of ");
      assertThat(told.path("choices").path(0).path("finish_reason").asString()).isEqualTo("stop");
      assertThat(told.path("usage").toString())
          .as("the stop string's token is counted, and nobody said what was cached")
          .isEqualTo("{\"completion_tokens\":3,\"prompt_tokens\":37,\"total_tokens\":40}");
      assertThat(engine.awaitChat(1).bodyText()).doesNotContain("\"stop\"");
      assertThat(JSON.readTree(engine.awaitChat(2).bodyText()).path("max_tokens").asInt())
          .isEqualTo(1);
      gate.open();
    }
  }

  @Test
  void aStreamEndsWithItsStopString() {
    engine.alwaysChat(mlx(null, "The", " capital of F", "rance", " is Paris."));
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE);
        TestClient client = hub.client()) {
      String body =
          client.post(CHATS, TestHub.chat("x", STREAM + ",\"stop\":[\"Fra\"]")).reply().body();

      assertThat(body)
          .contains("\" capital of \"", "\"finish_reason\":\"stop\"")
          .doesNotContain("rance", "Paris")
          .endsWith("data: [DONE]\n\n");
    }
  }

  @Test
  void severalAnswersComeOneAfterTheOtherInOneReply() {
    // The first is over for the hub when its connection ends, whatever the engine then does.
    engine.whenChat(exchange -> {
      mlx(null, "Hi").play(exchange);
      exchange.engine().awaitChat(2);
    });
    engine.alwaysChat(mlx(null, "Hi"));
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE);
        TestClient client = hub.client()) {
      JsonNode told =
          JSON.readTree(client.post(CHATS, TestHub.chat("x", ",\"n\":3")).reply().body());

      assertThat(told.path("choices")).hasSize(3);
      for (int i = 0; i < 3; i++) {
        assertThat(told.path("choices").path(i).path("index").asInt()).isEqualTo(i);
      }
      assertThat(told.path("usage").path("prompt_tokens").asInt()).isEqualTo(32);
      assertThat(told.path("usage").path("completion_tokens").asInt()).isEqualTo(12);
      List<ReceivedRequest> asked = engine.chats();
      assertThat(asked).hasSize(3);
      assertThat(asked.get(1).arrivedAfterTheAnswerTo(asked.get(0))).isTrue();
      assertThat(asked.get(2).arrivedAfterTheAnswerTo(asked.get(1))).isTrue();
      assertThat(hub.usage(1).completionTokens()).isEqualTo(12);
    }
  }

  @Test
  void severalAnswersOfAStreamHaveOneIdOneUsageAndOneEnd() {
    engine.alwaysChat(Script.answer("one", "two"));
    try (TestHub hub = hub("llama-server", Reasoning.REASONING_CONTENT);
        TestClient client = hub.client()) {
      String body = client.post(CHATS, TestHub.chat("x", USAGE + ",\"n\":2")).reply().body();

      List<JsonNode> events =
          body.lines()
              .filter(line -> line.startsWith("data: {"))
              .map(line -> JSON.readTree(line.substring("data: ".length())))
              .toList();
      assertThat(events).filteredOn(event -> event.has("usage")).hasSize(1);
      assertThat(events)
          .filteredOn(event -> event.path("choices").path(0).path("index").asInt(-1) == 1)
          .hasSize(4);
      assertThat(events)
          .map(event -> event.path("id").asString())
          .containsOnly("chatcmpl-scripted");
      assertThat(body).containsOnlyOnce("[DONE]");
    }
  }

  @Test
  void whatAnEngineHasNotGoesToOneThatHasIt() {
    engine.alwaysChat(mlx(null, "no JSON"));
    other.alwaysChat(vllm("{\"role\":\"assistant\",\"content\":\"\"}", "{\"content\":\"{}\"}"));
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE);
        TestClient client = hub.client()) {
      hub.serveAs("vllm", "b", other);
      String format = STREAM + ",\"response_format\":{\"type\":\"json_object\"}";
      TestClient.Reply served = client.post(CHATS, TestHub.chat("x", format)).reply();

      assertThat(served.header("x-flotilla-worker")).isEqualTo("b");

      hub.serve(engine);
      TestClient.Reply refused = client.post(CHATS, TestHub.chat("x", format)).reply();
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.body())
          .contains(
              "\"code\":\"model_not_capable\"",
              "\"param\":\"response_format\"",
              "model 'public-name' has no engine now that can do this: answers that are surely JSON");
      assertThat(engine.chats()).isEmpty();
    }
  }

  @Test
  void vllmCountsAPromptOfWhichItsBytesDontSayWhetherItFits() {
    engine.always("/tokenize", Script.json(200, "{\"count\":5000,\"max_model_len\":4096}"));
    try (TestHub hub = hub("vllm", Reasoning.INLINE)) {
      TestClient.Reply reply = hub.chat("word ".repeat(4_000));

      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains("context_length_exceeded", "5000 tokens", "4096");
      assertThat(engine.chats()).isEmpty();
    }
  }

  @Test
  void whatKillsMlxLmNeverReachesIt() {
    try (TestHub hub = hub("mlx-lm", Reasoning.INLINE);
        TestClient client = hub.client()) {
      for (String deadly :
          List.of(
              ",\"stop\":5",
              ",\"stop\":[5]",
              ",\"logit_bias\":{\"9999999\":1}",
              ",\"chat_template_kwargs\":{\"return_tensors\":\"np\"}")) {
        TestClient.Reply reply = client.post(CHATS, TestHub.chat("x", deadly)).reply();
        assertThat(reply.status()).as(deadly).isEqualTo(400);
      }
      TestClient.Reply empty =
          client.post("/v1/completions", "{\"model\":\"public-name\",\"prompt\":\"\"}").reply();
      assertThat(empty.status()).isEqualTo(400);
      assertThat(empty.body()).contains("empty prompts");
      assertThat(engine.requests()).isEmpty();
    }
  }

  @Test
  void aRequestThatMlxLmCantReadIsTheClientsMistakeAndADeadThreadIsTheEngines() {
    Setup setup = setup("mlx-lm", Reasoning.INLINE);
    try (TestHub hub = TestHub.over(setup, engine)) {
      engine.whenChat(
          Script.json(404, "{\"error\": \"Conversation roles must alternate user/assistant\"}"),
          mlx(null, "Hi"),
          Script.json(404, "{\"error\": \"generation thread died\"}"));

      TestClient.Reply unreadable = hub.chat("x");
      assertThat(unreadable.status()).isEqualTo(400);
      assertThat(unreadable.body())
          .contains("\"type\":\"invalid_request_error\"", "roles must alternate");
      assertThat(hub.chat("x").status()).as("the engine is not set aside").isEqualTo(200);

      assertThat(hub.chat("x").status()).isEqualTo(502);
      assertThat(hub.dispatcher.loads()).as("now it is").allMatch(load -> load.failed() == 1);
    }
  }

  @Test
  void aStreamWithoutItsEndMarkIsWholeIfItCameToItsFinish() {
    engine.alwaysChat(Script.answer("one").withoutDone());
    try (TestHub hub = hub("llama-server", Reasoning.REASONING_CONTENT)) {
      TestClient.Reply reply = hub.stream("x");

      assertThat(reply.body()).contains("one").endsWith("data: [DONE]\n\n");
      assertThat(hub.usage(1).outcome()).isEqualTo("ok");
    }
  }

  @Test
  void whatOnlyLooksLikeJsonIsTheEnginesFailure() {
    engine.alwaysChat(vllm("{\"content\":\"\\q\"}"));
    try (TestHub hub = hub("vllm", Reasoning.INLINE)) {
      TestClient.Reply streamed = hub.stream("x");
      assertThat(streamed.status()).isEqualTo(502);
      assertThat(streamed.body()).contains("sent an event that is not a JSON object");
    }
    engine.alwaysChat(
        Script.json(
            200,
            "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"\\q\"},\"finish_reason\":null}]}"));
    try (TestHub hub = hub("vllm", Reasoning.INLINE)) {
      assertThat(hub.chat("x").body()).contains("something that is not a JSON object");
    }
  }

  @Test
  void keepAlivesAreSwallowed() {
    engine.alwaysChat(Script.answer("one", "two").commentAfter(1));
    try (TestHub hub = hub("llama-server", Reasoning.REASONING_CONTENT)) {
      assertThat(hub.stream("x").body().lines())
          .isNotEmpty()
          .allSatisfy(line -> assertThat(line).matches("|data: .*"));
    }
  }

  @Test
  void anAnswerThatBreaksOffWhileItIsPutTogetherIsHadFromAnother() {
    engine.alwaysChat(Script.answer("one", "two").dropAfter(1));
    other.alwaysChat(mlx(null, "Hi"));
    Setup setup = setup("mlx-lm", Reasoning.INLINE);
    try (TestHub hub = TestHub.over(setup, engine, other)) {
      for (int i = 0; i < 2; i++) {
        TestClient.Reply reply = hub.chat("x");
        assertThat(reply.status()).isEqualTo(200);
        assertThat(reply.body()).contains("\"content\":\"Hi\"");
      }
    }
  }

  private static Setup setup(String engine, Reasoning reasoning) {
    Setup setup = new Setup();
    setup.engine = engine;
    setup.promise = new Promise(reasoning, true);
    return setup;
  }

  private TestHub hub(String dialect, Reasoning reasoning) {
    return TestHub.over(setup(dialect, reasoning), engine);
  }

  /** An answer in vLLM's words. */
  private static Script vllm(String... deltas) {
    return exchange -> {
      exchange.startStream();
      for (String delta : deltas) {
        exchange.event(
            "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,\"model\":\"own-name\",\"choices\":[{\"index\":0,\"delta\":"
                + delta
                + ",\"logprobs\":null,\"finish_reason\":null,\"token_ids\":null}]}");
      }
      exchange.event(
          "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,\"model\":\"own-name\",\"choices\":[{\"index\":0,\"delta\":{},\"logprobs\":null,\"finish_reason\":\"stop\",\"stop_reason\":null,\"token_ids\":null}]}");
      exchange.event(
          "{\"id\":\"chatcmpl-b2375eb098640207\",\"object\":\"chat.completion.chunk\",\"created\":1795974348,\"model\":\"own-name\",\"choices\":[],\"usage\":{\"prompt_tokens\":37,\"total_tokens\":40,\"completion_tokens\":3},\"system_fingerprint\":\"vllm-0.32.0-c1319506\"}");
      exchange.event("[DONE]");
      exchange.endStream();
    };
  }

  /** An answer in mlx-lm's words, which comes by HTTP/1.0. */
  private static Script mlx(@Nullable Gate gate, String... pieces) {
    return exchange -> {
      exchange.startStreamHttp10();
      exchange.body(": keepalive 1/1\n\n".getBytes(UTF_8));
      for (String piece : pieces) {
        if (gate != null) {
          exchange.await(gate);
        }
        mlxEvent(
            exchange,
            "chat.completion.chunk",
            "[{\"index\": 0, \"finish_reason\": null, \"delta\": {\"role\": \"assistant\", \"content\": "
                + JSON.writeValueAsString(piece)
                + "}}]");
      }
      mlxEvent(
          exchange,
          "chat.completion.chunk",
          "[{\"index\": 0, \"finish_reason\": \"stop\", \"delta\": {\"role\": \"assistant\"}}]");
      mlxEvent(
          exchange,
          "chat.completion",
          "[], \"usage\": {\"prompt_tokens\": 32, \"completion_tokens\": 4, \"total_tokens\": 36, \"prompt_tokens_details\": {\"cached_tokens\": 31}}");
      exchange.event("[DONE]");
      exchange.endStream();
    };
  }

  private static void mlxEvent(Exchange exchange, String object, String choices)
      throws IOException {
    exchange.event(
        "{\"id\": \"chatcmpl-51cbbec2\", \"system_fingerprint\": \"0.32.2-0.32.4-Linux-KERNEL\", \"model\": \"default_model\", \"created\": 1795974789, \"object\": \""
            + object
            + "\", \"choices\": "
            + choices
            + "}");
  }
}
