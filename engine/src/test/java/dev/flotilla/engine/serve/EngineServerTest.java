package dev.flotilla.engine.serve;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.flotilla.engine.Ending;
import dev.flotilla.engine.Engine;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.client.TestClient.Reply;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

class EngineServerTest {
  private static final int CONTEXT = 600;
  private static final String HELLO =
      "\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"temperature\":0";

  private static final String WRITE =
      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"write\"}}]";

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
            "",
            ServeLimits.DEFAULT);
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
  void aCallIsStreamedAsItIsWritten() {
    runner.says(
        "<tool_call>{\"name\": \"write\", \"arguments\": {\"text\": \"one two three\"}}</tool_call>");
    runner.stepwise();
    client.post("/v1/chat/completions", "{" + HELLO + WRITE + ",\"stream\":true}");
    runner.step(60); // three for the prompt, and 57 of the call's 80 letters
    assertThat(client.replyHead().status()).isEqualTo(200);
    assertThat(client.event()).contains("\"role\":\"assistant\"");
    assertThat(client.event())
        .contains("\"index\":0", "\"id\":\"call_", "\"name\":\"write\"", "\"arguments\":\"\"");
    StringBuilder arguments = new StringBuilder();
    int pieces = 0;
    while (!arguments.toString().contains("one")) {
      arguments.append(delta(client).at("/tool_calls/0/function/arguments").stringValue());
      pieces++;
    }
    assertThat(engine.counts().running()).as("the model still writes").isEqualTo(1);
    runner.step(1_000);
    JsonNode delta = delta(client);
    while (delta.has("tool_calls")) {
      arguments.append(delta.at("/tool_calls/0/function/arguments").stringValue());
      pieces++;
      delta = delta(client);
    }
    assertThat(pieces).isGreaterThan(1);
    assertThat(arguments.toString()).isEqualTo("{\"text\":\"one two three\"}");
    assertThat(client.event()).contains("[DONE]");
    client.close();
    client = TestClient.connect(server.port());
    JsonNode whole = chat(HELLO + WRITE).at("/choices/0/message/tool_calls/0/function/arguments");
    assertThat(whole.stringValue()).isEqualTo(arguments.toString());
  }

  @Test
  void whereParallelCallsAreNotWantedTheFirstEndsTheAnswer() {
    String call = "<tool_call>{\"name\": \"write\", \"arguments\": {}}</tool_call>\n";
    runner.says(call + call);
    assertThat(chat(HELLO + WRITE).at("/choices/0/message/tool_calls").size()).isEqualTo(2);
    JsonNode one = chat(HELLO + WRITE + ",\"parallel_tool_calls\":false").at("/choices/0");
    assertThat(one.at("/message/tool_calls").size()).isEqualTo(1);
    assertThat(one.path("finish_reason").stringValue()).isEqualTo("tool_calls");
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
        post("/v1/completions", "{\"prompt\":[[97,98],[97,98]],\"temperature\":0,\"logprobs\":1}");
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
    assertThat(refusal(HELLO + ",\"temperature\":-1")).contains("duplicate_field");
    assertThat(refusal(HELLO + ",\"top_p\":2")).contains("top_p must be over 0 to 1, not 2");
    assertThat(refusal(HELLO + ",\"top_p\":\"x\"")).contains("must be a number", "invalid_type");
    assertThat(refusal(HELLO + ",\"n\":0")).contains("must be from 1 to 8");
    assertThat(refusal(HELLO + ",\"seed\":1e30"))
        .contains("seed must be a whole number of at most 64 bits, not 1.0E30");
    assertThat(refusal(HELLO + ",\"top_logprobs\":3")).contains("needs logprobs");
    assertThat(refusal(HELLO + ",\"logit_bias\":{\"99999\":1}")).contains("names the token 99999");
    assertThat(refusal(HELLO + ",\"stream_options\":{}")).contains("needs stream");
    assertThat(refusal("\"messages\":[]")).contains("needs at least one message");
    assertThat(refusal("\"messages\":[{\"role\":\"wizard\",\"content\":\"x\"}]"))
        .contains("messages[0].role must be");
    assertThat(refusal("\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]"))
        .contains("reads text alone");
    assertThat(post("/v1/completions", "{\"prompt\":[5,258]}").body())
        .contains("prompt[1] is 258, and the model's tokens are numbered from 0 to 257");
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
    assertThat(refusal(HELLO + schema.replace("enum", "enumm"))).contains("keyword \\\"enumm\\\"");
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

    JsonNode cut = chat(HELLO + tools + ",\"max_tokens\":6").path("choices").path(0);
    assertThat(cut.path("finish_reason").stringValue()).isEqualTo("length");
    assertThat(cut.path("message").path("content").stringValue()).isEmpty();
  }

  @Test
  void textsAndTokensBecomeVectorsOfLengthOne() {
    JsonNode reply = embedded("{\"input\":\"aaab\",\"user\":\"me\"}");
    assertThat(reply.path("object").stringValue()).isEqualTo("list");
    assertThat(reply.path("model").stringValue()).isEqualTo("letters");
    assertThat(reply.at("/data/0/object").stringValue()).isEqualTo("embedding");
    JsonNode vector = reply.at("/data/0/embedding");
    assertThat(vector.size()).isEqualTo(SpeakingRunner.WIDTH);
    assertThat(vector.path('a').doubleValue()).isCloseTo(3 / Math.sqrt(10), within(1e-6));
    assertThat(vector.path('b').doubleValue()).isCloseTo(1 / Math.sqrt(10), within(1e-6));
    assertThat(reply.at("/usage/prompt_tokens").intValue()).isEqualTo(4);
    assertThat(reply.at("/usage/total_tokens").intValue()).isEqualTo(4);

    JsonNode tokens = embedded("{\"input\":[97,97,97,98],\"dimensions\":256}");
    assertThat(tokens.at("/data/0/embedding")).isEqualTo(vector);
    JsonNode several = embedded("{\"input\":[\"b\",[97,97,97,98],\"aaab\"]}");
    assertThat(several.at("/data").size()).isEqualTo(3);
    assertThat(several.at("/data/2/index").intValue()).isEqualTo(2);
    assertThat(several.at("/data/0/embedding/98").doubleValue()).isEqualTo(1);
    assertThat(several.at("/data/1/embedding")).isEqualTo(vector);
    assertThat(several.at("/data/2/embedding")).isEqualTo(vector);
  }

  @Test
  void vectorsComeAsBytesToo() {
    JsonNode reply = embedded("{\"input\":\"b\",\"encoding_format\":\"base64\"}");
    byte[] bytes = Base64.getDecoder().decode(reply.at("/data/0/embedding").stringValue());
    FloatBuffer vector = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    assertThat(vector.remaining()).isEqualTo(SpeakingRunner.WIDTH);
    assertThat(vector.get('b')).isEqualTo(1);
    assertThat(vector.get('a')).isZero();
  }

  @Test
  void moreTextsThanMayRunAtOnceAreEmbeddedBesideAnswers() {
    runner.says("beside");
    String texts = IntStream.range(0, 100).mapToObj(i -> "\"" + i + "\"").collect(joining(","));
    JsonNode reply = embedded("{\"input\":[" + texts + "]}");
    assertThat(reply.at("/data").size()).isEqualTo(100);
    assertThat(reply.at("/data/7/embedding/" + (int) '7').doubleValue()).isEqualTo(1);
    assertThat(content(chat(HELLO))).isEqualTo("beside");
  }

  @Test
  void whatCantBeEmbeddedIsRefusedBeforeAnyWork() {
    assertThat(unembedded("{}")).contains("no \\\"input\\\"");
    assertThat(unembedded("{\"input\":[]}")).contains("input is an empty list");
    assertThat(unembedded("{\"input\":7}")).contains("must be a string or a list");
    assertThat(unembedded("{\"input\":\"\"}")).contains("input has no token");
    assertThat(unembedded("{\"input\":[\"a\",\"\"]}")).contains("input[1] has no token");
    assertThat(unembedded("{\"input\":[\"a\",7]}")).contains("input[1] must be a text");
    assertThat(unembedded("{\"input\":[97,\"a\"]}")).contains("input[1] must be a token's number");
    assertThat(unembedded("{\"input\":[[97],[258]]}"))
        .contains("input[1][0] is 258, and the model's tokens are numbered from 0 to 257")
        .contains("\"param\":\"input[1]\"");
    assertThat(unembedded("{\"input\":[\"a\",\"" + "x".repeat(CONTEXT + 1) + "\"]}"))
        .contains("601 tokens, and a text has 600 at most")
        .contains("context_length_exceeded");
    assertThat(unembedded("{\"input\":\"a\",\"dimensions\":64}"))
        .contains("vectors have 256 numbers and can't have 64");
    assertThat(unembedded("{\"input\":\"a\",\"encoding_format\":\"int8\"}"))
        .contains("must be float or base64");
    assertThat(unembedded("{\"input\":\"a\",\"stream\":true}")).contains("stream is not supported");
    String texts = "\"a\",".repeat(Embeddings.INPUTS_MAX) + "\"a\"";
    assertThat(unembedded("{\"input\":[" + texts + "]}"))
        .contains("2049 texts; at most 2048 are allowed");
    assertThat(engine.counts().steps()).isZero();
    assertThat(embedded("{\"input\":\"" + "x".repeat(CONTEXT) + "\"}").at("/data").size())
        .as("a text may fill the context")
        .isEqualTo(1);
  }

  @Test
  void aClientThatLeavesInTheMiddleOfItsTextsFreesTheirBlocks() {
    runner.stepwise();
    String text = "\"" + "x".repeat(500) + "\",";
    try (TestClient leaving = TestClient.connect(server.port())) {
      leaving.post("/v1/embeddings", "{\"input\":[" + text.repeat(20) + "\"a\"]}");
      runner.step(2);
      await().until(() -> engine.counts().running() > 0);
      leaving.reset();
    }
    await()
        .until(() -> {
          runner.step(1);
          return engine.counts().running() + engine.counts().waiting() == 0;
        });
    assertThat(engine.counts().ended(Ending.CANCELLED)).isPositive();
    runner.step(1000);
  }

  @Test
  void aModelThatHasToCallCallsOnceOrAsOftenAsItWantsTo() {
    String call = "<tool_call>\n{\"name\":\"write\",\"arguments\":{}}\n</tool_call>";
    runner.says(call + "\n" + call + "\n" + call);
    String forced = HELLO + WRITE + ",\"tool_choice\":\"required\"";
    assertThat(calls(forced + ",\"parallel_tool_calls\":true")).isEqualTo(3);
    assertThat(calls(forced + ",\"parallel_tool_calls\":false")).isEqualTo(1);
    assertThat(calls(forced)).as("one, where the request does not say").isEqualTo(1);
  }

  private int calls(String fields) {
    return chat(fields).at("/choices/0/message/tool_calls").size();
  }

  @Test
  void anAnswerHasTheGrammarThatWasAskedFor() {
    runner.says("Sure! Here you are.");
    String grammar = "root ::= word (\\\", \\\" word)?\\nword ::= \\\"ab\\\" [c-e]{2}";
    String field = ",\"grammar\":\"" + grammar + "\"";
    assertThat(content(chat(HELLO + field + ",\"max_tokens\":40")))
        .matches("ab[c-e]{2}(, ab[c-e]{2})?");
    Reply text = post("/v1/completions", "{\"prompt\":\"x\"" + field + ",\"max_tokens\":40}");
    assertThat(text.status()).as(text.body()).isEqualTo(200);
    assertThat(text.body()).contains("\"text\":\"ab");
    assertThat(refusal(HELLO + ",\"grammar\":\"root ::= (\\\"a\\\"\""))
        .contains("grammar: line 1, column 10: a group that has no end")
        .contains("\"param\":\"grammar\"");
    assertThat(refusal(HELLO + field + ",\"response_format\":{\"type\":\"json_object\"}"))
        .contains("can have one form");
    String schema = ",\"json_schema\":{\"enum\":[7,8]}";
    assertThat(content(chat(HELLO + schema))).isIn("7", "8");
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

  private JsonNode embedded(String json) {
    Reply reply = post("/v1/embeddings", json);
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
    return Json.body(reply.body().getBytes(StandardCharsets.UTF_8));
  }

  private String unembedded(String json) {
    Reply reply = post("/v1/embeddings", json);
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

  private static JsonNode delta(TestClient client) {
    String event = client.event().replaceFirst("^data: ", "").strip();
    return Json.body(event.getBytes(StandardCharsets.UTF_8)).at("/choices/0/delta");
  }

  private static String delta(String event) {
    int from = event.indexOf("\"delta\":") + 8;
    return event.substring(from, event.indexOf("},\"finish_reason\"", from) + 1);
  }
}
