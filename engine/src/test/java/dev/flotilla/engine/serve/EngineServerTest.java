package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.testkit.TestClient;
import dev.flotilla.testkit.TestClient.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class EngineServerTest {
  private static final int CONTEXT = 600;
  private static final String HELLO =
      "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"temperature\":0";

  @TempDir private Path folder;
  private ServedModel model;
  private SpeakingRunner runner;
  private Engine engine;
  private EngineServer server;
  private TestClient client;

  @BeforeEach
  void serve() throws IOException {
    model = LetterModel.served(folder);
    runner = new SpeakingRunner(model.tokenizer(), CONTEXT);
    engine = new Engine(runner, new ScheduleLimits(64, 4, 8), CONTEXT, System::nanoTime).start();
    server = server("");
    client = TestClient.connect(server.port());
  }

  private EngineServer server(String key) throws IOException {
    ServeSettings settings =
        new ServeSettings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            key,
            ServeSettings.Reasoning.REASONING_CONTENT,
            ServerLimits.DEFAULT);
    return new EngineServer(
            engine, model, settings, Map.of("launch", "7"), Clock.systemUTC(), new Random(1))
        .start();
  }

  @AfterEach
  void nothingIsLeft() {
    client.close();
    await().until(() -> engine.counts().running() + engine.counts().waiting() == 0);
    await().until(() -> engine.counts().blocksFree() == runner.kvBlocks());
    server.close();
    engine.close();
  }

  @Test
  void aConversationIsAnsweredWhole() {
    runner.says("Good day, Zoë \uD83D\uDE42");
    JsonNode reply = chat(HELLO);
    assertThat(reply.path("object").stringValue()).isEqualTo("chat.completion");
    assertThat(reply.path("model").stringValue()).isEqualTo("letters");
    JsonNode choice = reply.path("choices").path(0);
    assertThat(choice.path("message").path("content").stringValue())
        .isEqualTo("Good day, Zoë \uD83D\uDE42");
    assertThat(choice.path("finish_reason").stringValue()).isEqualTo("stop");
    JsonNode usage = reply.path("usage");
    assertThat(usage.path("completion_tokens").intValue()).as("20 bytes and the end").isEqualTo(20);
    assertThat(usage.path("total_tokens").intValue())
        .isEqualTo(usage.path("prompt_tokens").intValue() + 20);
  }

  @Test
  void aStreamSaysTheRoleThenTheTextThenWhyItEndedAndTheUsage() {
    runner.says("é");
    List<String> events =
        stream("{" + HELLO + ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
    assertThat(delta(events.get(0))).isEqualTo("{\"role\":\"assistant\",\"content\":\"\"}");
    assertThat(delta(events.get(1))).as("never half a character").isEqualTo("{\"content\":\"é\"}");
    assertThat(events.get(2)).contains("\"delta\":{}").contains("\"finish_reason\":\"stop\"");
    assertThat(events.get(3)).contains("\"choices\":[]").contains("\"completion_tokens\":3");
    assertThat(events.get(4)).isEqualTo("[DONE]");
    assertThat(events).hasSize(5);
  }

  @Test
  void aStopTextEndsTheAnswerAndIsNotSaid() {
    runner.says("one two three");
    JsonNode reply = chat(HELLO + ",\"stop\":[\" th\"]");
    assertThat(content(reply)).isEqualTo("one two");
    assertThat(reply.path("choices").path(0).path("finish_reason").stringValue()).isEqualTo("stop");
    await().until(() -> engine.counts().ended(Ending.STOP) == 1);
  }

  @Test
  void theLimitOfTokensIsTheReasonWhereItWas() {
    runner.says("one two three");
    JsonNode reply = chat(HELLO + ",\"max_tokens\":99,\"max_completion_tokens\":3");
    assertThat(content(reply)).isEqualTo("one");
    assertThat(reply.path("choices").path(0).path("finish_reason").stringValue())
        .isEqualTo("length");
  }

  @Test
  void severalAnswersAndLogProbabilities() {
    runner.says("ab");
    JsonNode reply = chat(HELLO + ",\"n\":2,\"logprobs\":true,\"top_logprobs\":2");
    assertThat(reply.path("choices").size()).isEqualTo(2);
    JsonNode tokens = reply.path("choices").path(1).path("logprobs").path("content");
    assertThat(tokens.size()).isEqualTo(2);
    assertThat(tokens.path(0).path("token").stringValue()).isEqualTo("a");
    assertThat(tokens.path(0).path("top_logprobs").size()).isEqualTo(2);
    assertThat(tokens.path(0).path("logprob").doubleValue()).isBetween(-0.1, 0.0);
  }

  @Test
  void thoughtsAreSaidBesideTheAnswer() {
    runner.says("<think>\nLet me see.\n</think>\n\nParis");
    JsonNode message = chat(HELLO).path("choices").path(0).path("message");
    assertThat(message.path("content").stringValue()).isEqualTo("Paris");
    assertThat(message.path("reasoning_content").stringValue().strip()).isEqualTo("Let me see.");
    List<String> events = stream("{" + HELLO + ",\"stream\":true}");
    assertThat(String.join("", events)).doesNotContain("think>").contains("reasoning_content");
  }

  @Test
  void callsOfToolsAreTold() {
    runner.says(
        "I'll look.\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}\n"
            + "</tool_call>\n<tool_call>{\"name\": \"time\", \"arguments\": {}}</tool_call>");
    String tools =
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"weather\"}},"
            + "{\"type\":\"function\",\"function\":{\"name\":\"time\"}}]";
    JsonNode choice = chat(HELLO + tools).path("choices").path(0);
    assertThat(choice.path("finish_reason").stringValue()).isEqualTo("tool_calls");
    assertThat(choice.path("message").path("content").stringValue()).isEqualTo("I'll look.");
    JsonNode calls = choice.path("message").path("tool_calls");
    assertThat(calls.size()).isEqualTo(2);
    assertThat(calls.path(0).path("function").path("name").stringValue()).isEqualTo("weather");
    assertThat(calls.path(0).path("function").path("arguments").stringValue())
        .isEqualTo("{\"city\":\"Paris\"}");
    List<String> events = stream("{" + HELLO + tools + ",\"stream\":true}");
    assertThat(events.get(events.size() - 2)).contains("\"finish_reason\":\"tool_calls\"");
    assertThat(String.join("", events)).contains("\"index\":1").doesNotContain("<tool_call>");
  }

  @Test
  void anAssistantsLastMessageIsGoneOnWith() {
    runner.says("The capital is Paris.");
    JsonNode reply =
        chat(
            "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"},{\"role\":\"assistant\","
                + "\"content\":\"The capital is\"}],\"temperature\":0");
    assertThat(content(reply)).isEqualTo("Paris.");
  }

  @Test
  void textsAreCompleted() {
    runner.says("xxone two");
    Reply reply =
        post("/v1/completions", "{\"prompt\":[\"ab\",[97,98]],\"temperature\":0,\"logprobs\":1}");
    JsonNode body = Json.body(reply.body().getBytes(StandardCharsets.UTF_8));
    assertThat(body.path("choices").size()).isEqualTo(2);
    assertThat(body.path("choices").path(0).path("text").stringValue()).isEqualTo("one two");
    assertThat(body.path("choices").path(1).path("logprobs").path("tokens").size()).isEqualTo(7);
    assertThat(body.path("usage").path("prompt_tokens").intValue()).isEqualTo(4);
  }

  @Test
  void whatIsNotSupportedIsRefusedAndNothingElseIs() {
    runner.says("fine");
    assertThat(refusal(HELLO + ",\"logit_biass\":{}")).contains("logit_biass is not supported");
    assertThat(refusal(HELLO + ",\"temperature\":-1")).contains("is not JSON");
    assertThat(refusal(HELLO + ",\"top_p\":2")).contains("top_p must be over 0 to 1, not 2");
    assertThat(refusal(HELLO + ",\"top_p\":\"x\"")).contains("top_p must be a number");
    assertThat(refusal(HELLO + ",\"n\":0")).contains("n must be");
    assertThat(refusal(HELLO + ",\"top_logprobs\":3")).contains("needs logprobs");
    assertThat(refusal(HELLO + ",\"logit_bias\":{\"99999\":1}")).contains("names the token 99999");
    assertThat(refusal(HELLO + ",\"stream_options\":{}")).contains("needs stream");
    assertThat(refusal("\"messages\":[]")).contains("messages is empty");
    assertThat(refusal("\"messages\":[{\"role\":\"wizard\",\"content\":\"x\"}]"))
        .contains("messages[0].role must be");
    assertThat(refusal("\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]"))
        .contains("reads text alone");
    assertThat(post("/v1/completions", "{\"prompt\":[5,258]}").body())
        .contains("token 258 is not one of the model's 258");
    assertThat(post("/v1/embeddings", "{\"input\":\"x\"}").body()).contains("has no embeddings");
    assertThat(post("/v1/chat/completions", "{\"model\":\"other\"," + HELLO + "}").status())
        .isEqualTo(404);
    assertThat(content(chat(HELLO + ",\"user\":\"me\",\"stop\":null"))).isEqualTo("fine");
  }

  @Test
  void aPromptBeyondTheContextIsRefusedWithBothNumbers() {
    String message = "x".repeat(CONTEXT);
    assertThat(refusal("\"messages\":[{\"role\":\"user\",\"content\":\"" + message + "\"}]"))
        .contains("600 together at most")
        .contains("context_length_exceeded");
    String huge = "x".repeat(10 << 20);
    assertThat(refusal("\"messages\":[{\"role\":\"user\",\"content\":\"" + huge + "\"}]"))
        .contains("has at least");
    assertThat(engine.counts().steps()).as("before any work").isZero();
  }

  @Test
  void aClientThatLeavesFreesItsBlocks() {
    runner.says("a".repeat(400));
    runner.stepwise();
    for (String more : new String[] {"", ",\"stream\":true"}) {
      try (TestClient leaving = TestClient.connect(server.port())) {
        leaving.post("/v1/chat/completions", "{" + HELLO + more + "}");
        await().until(() -> engine.counts().running() + engine.counts().waiting() >= 0);
        runner.step(3);
        await().until(() -> engine.counts().running() == 1);
        leaving.reset();
      }
      runner.step(1);
      await()
          .until(() -> {
            runner.step(1);
            return engine.counts().running() == 0;
          });
    }
    assertThat(engine.counts().ended(Ending.CANCELLED)).isEqualTo(2);
    runner.step(1000);
  }

  @Test
  void aServerWithAKeyWantsIt() throws IOException {
    try (EngineServer locked = server("sesame");
        TestClient other = TestClient.connect(locked.port())) {
      assertThat(other.get("/health").reply().status()).isEqualTo(200);
      assertThat(other.get("/v1/models").reply().status()).isEqualTo(401);
      assertThat(other.get("/v1/models", "Authorization: Bearer wrong").reply().status())
          .isEqualTo(401);
      Reply props = other.get("/props", "Authorization: Bearer sesame").reply();
      assertThat(props.body()).contains("\"launch\":\"7\"").contains("\"n_ctx\":600");
      assertThat(other.get("/v1/models", "X-Api-Key: sesame").reply().body())
          .contains("\"max_model_len\":600");
    }
  }

  @Test
  void anAnswerHasTheFormThatWasAskedForWhateverTheModelWouldSay() {
    runner.says("Sure! Here you are: {}");
    String schema =
        ",\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"x\",\"schema\":"
            + "{\"type\":\"object\",\"properties\":{\"city\":{\"enum\":[\"Paris\",\"Rome\"]}},"
            + "\"required\":[\"city\"],\"additionalProperties\":false}}}";
    String json = content(chat(HELLO + schema + ",\"max_tokens\":100"));
    assertThat(Json.body(json.getBytes(StandardCharsets.UTF_8)).path("city").stringValue())
        .isIn("Paris", "Rome");
    assertThat(content(chat(HELLO + ",\"structured_outputs\":{\"choice\":[\"yes\",\"no\"]}")))
        .isIn("yes", "no");
    assertThat(content(chat(HELLO + ",\"structured_outputs\":{\"regex\":\"[0-9]{3}\"}")))
        .matches("[0-9]{3}");
    assertThat(refusal(HELLO + schema.replace("enum", "enumm"))).contains("keyword 'enumm'");
    assertThat(refusal(HELLO + schema + ",\"ignore_eos\":true"))
        .contains("ends where the form does");
  }

  @Test
  void aCallThatHasToBeMadeIsMade() {
    runner.says("I would rather not.");
    String tools =
        ",\"tool_choice\":\"required\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"
            + "\"weather\",\"parameters\":{\"type\":\"object\",\"properties\":{\"city\":"
            + "{\"enum\":[\"Rome\"]}},\"required\":[\"city\"],\"additionalProperties\":false}}}]";
    JsonNode choice = chat(HELLO + tools + ",\"max_tokens\":450").path("choices").path(0);
    assertThat(choice.path("finish_reason").stringValue()).isEqualTo("tool_calls");
    JsonNode call = choice.path("message").path("tool_calls").path(0).path("function");
    assertThat(call.path("name").stringValue()).isEqualTo("weather");
    assertThat(call.path("arguments").stringValue()).isEqualTo("{\"city\":\"Rome\"}");
  }

  @Test
  void tokensAndTexts() {
    assertThat(post("/tokenize", "{\"prompt\":\"ab<|im_end|>\"}").body())
        .contains("\"tokens\":[97,98,257]");
    assertThat(post("/tokenize", "{" + HELLO.replace(",\"temperature\":0", "") + "}").body())
        .contains("\"max_model_len\":600");
    assertThat(post("/detokenize", "{\"tokens\":[104,105]}").body()).contains("\"prompt\":\"hi\"");
    assertThat(post("/detokenize", "{\"tokens\":[-1]}").status()).isEqualTo(400);
  }

  @Test
  void whatWasDoneIsCounted() {
    runner.says("four");
    chat(HELLO);
    String page = client.get("/metrics").reply().body();
    assertThat(page)
        .contains("vllm:generation_tokens_total{engine=\"0\",model_name=\"letters\"} 5.0")
        .contains("finished_reason=\"stop\"} 1.0")
        .contains(
            "vllm:time_to_first_token_seconds_count{engine=\"0\",model_name=\"letters\"} 1.0");
  }

  private Reply post(String path, String json) {
    return client.post(path, json).reply();
  }

  private JsonNode chat(String fields) {
    Reply reply = post("/v1/chat/completions", "{" + fields + "}");
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return Json.body(reply.body().getBytes(StandardCharsets.UTF_8));
  }

  private String refusal(String fields) {
    Reply reply = post("/v1/chat/completions", "{" + fields + "}");
    assertThat(reply.status()).as(reply.body()).isEqualTo(400);
    return reply.body();
  }

  private static String content(JsonNode reply) {
    return reply.path("choices").path(0).path("message").path("content").stringValue();
  }

  private List<String> stream(String json) {
    client.post("/v1/chat/completions", json);
    assertThat(client.replyHead().status()).isEqualTo(200);
    List<String> events = new ArrayList<>();
    while (events.isEmpty() || !events.getLast().equals("[DONE]")) {
      events.add(client.event().replaceFirst("^data: ", "").strip());
    }
    client.close();
    client = TestClient.connect(server.port());
    return events;
  }

  private static String delta(String event) {
    int from = event.indexOf("\"delta\":") + 8;
    return event.substring(from, event.indexOf("},\"finish_reason\"", from) + 1);
  }
}
