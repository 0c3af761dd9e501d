package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.real.Python;
import dev.langchain4j.agent.tool.ToolSpecification;
import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ToolChoice;
import dev.langchain4j.model.chat.request.json.JsonObjectSchema;
import dev.langchain4j.model.openai.OpenAiChatModel;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** {@code flotilla serve} and clients as users have them; no hub. */
final class ServeIT {
  private static ServedAlone served;

  @BeforeAll
  static void start() {
    served = ServedAlone.start();
  }

  @AfterAll
  static void stop() {
    served.close();
  }

  @Test
  void pythonsOpenAiStreamsCallsToolsAndGetsWhatItsSchemaSays() throws Exception {
    URL script = ServeIT.class.getResource("serve_client.py");
    assertThat(script).isNotNull();
    Python.Ended ended =
        Python.with("openai-3.57.0", List.of("openai==3.57.0"))
            .run(
                Path.of(script.toURI()),
                Map.of(
                    "OPENAI_BASE_URL", served.api(),
                    "OPENAI_API_KEY", ServedAlone.KEY,
                    "FLOTILLA_MODEL", ServedAlone.MODEL),
                KeyedFleet.ANSWER_LIMIT);
    assertThat(ended.exitCode()).as(ended.output()).isZero();
    ObjectNode outcomes = JsonMapper.shared().createObjectNode();
    ended
        .output()
        .lines()
        .map(line -> JsonMapper.shared().readTree(line))
        .forEach(line -> outcomes.set(line.path("tried").asString(), line.path("outcome")));

    JsonNode streamed = outcomes.path("streamed");
    assertThat(streamed.path("text").asString()).isNotBlank();
    assertThat(streamed.path("tokens").asInt()).isBetween(1, 8);
    assertThat(outcomes.path("tool").path("name").asString()).isEqualTo("weather");
    assertThat(outcomes.path("tool").at("/arguments/city").asString()).isIn("Rome", "Paris");
    JsonNode call = outcomes.path("tool_streamed");
    assertThat(call.path("name").asString()).isEqualTo("weather");
    assertThat(call.at("/arguments/city").asString()).isIn("Rome", "Paris");
    assertThat(call.path("finish").asString()).isEqualTo("tool_calls");
    assertThat(call.path("pieces").asInt()).as("pieces of arguments").isGreaterThan(1);
    assertThat(outcomes.path("schema").path("city").asString()).isIn("Rome", "Paris");
    assertThat(outcomes.path("unknown_option").path("status").asInt()).isEqualTo(400);
    assertThat(outcomes.path("unknown_option").path("message").asString()).contains("mirostat");
  }

  @Test
  void langChain4jChatsAndCallsTools() {
    OpenAiChatModel model =
        OpenAiChatModel.builder()
            .baseUrl(served.api())
            .apiKey(ServedAlone.KEY)
            .modelName(ServedAlone.MODEL)
            .maxTokens(200)
            .build();
    ToolSpecification weather =
        ToolSpecification.builder()
            .name("weather")
            .parameters(
                JsonObjectSchema.builder()
                    .addEnumProperty("city", List.of("Rome"))
                    .required("city")
                    .build())
            .build();
    var reply =
        model.chat(
            ChatRequest.builder()
                .messages(UserMessage.from("What is the weather in Rome?"))
                .toolSpecifications(weather)
                .toolChoice(ToolChoice.REQUIRED)
                .build());
    var calls = reply.aiMessage().toolExecutionRequests();
    assertThat(calls.getFirst().name()).isEqualTo("weather");
    assertThat(JsonMapper.shared().readTree(calls.getFirst().arguments()).path("city").asString())
        .isEqualTo("Rome");
  }

  @Test
  void whatItTakesUnderLoadIsWhatItSaidAtItsStart() throws Exception {
    long promised = served.promisedMebibytes();
    List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
    long most = 0;
    try (HttpClient client = HttpClient.newHttpClient()) {
      for (int i = 0; i < 12; i++) {
        answers.add(client.sendAsync(story(i), HttpResponse.BodyHandlers.ofString()));
      }
      for (CompletableFuture<HttpResponse<String>> answer : answers) {
        while (!answer.isDone()) {
          most = Math.max(most, served.residentMebibytes());
          try {
            answer.get(100, TimeUnit.MILLISECONDS);
          } catch (TimeoutException stillComputed) {
            // Looked at again.
          } catch (ExecutionException failed) {
            throw new AssertionError(failed.getCause());
          }
        }
        assertThat(answer.get().statusCode()).as(answer.get().body()).isEqualTo(200);
      }
    }
    most = Math.max(most, served.residentMebibytes());
    assertThat(most)
        .as("MiB resident; said at the start: %d", promised)
        .isCloseTo(promised, org.assertj.core.data.Offset.offset(Math.max(64, promised / 20)));
  }

  /** A prompt of some hundred tokens and an answer of as many, so that all blocks are used. */
  private static HttpRequest story(int number) {
    String text = ("Tell of day " + number + " at the sea. ").repeat(60);
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}],\"max_tokens\":120,\"ignore_eos\":true}"
            .formatted(text);
    return HttpRequest.newBuilder(URI.create(served.api() + "/chat/completions"))
        .header("Authorization", "Bearer " + ServedAlone.KEY)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }
}
