package dev.flotilla.shape.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.openai.RequestScan;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.text.Json;
import java.util.Optional;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** What requests become for each engine; what is not named stays byte for byte. */
class EngineRequestTest {
  private static final String MESSAGES = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"model\":\"public\",$}",
        " {\"a\": 1.50, $ , \"model\" : \"public\" }\n",
        "{\"model\":\"pub\\u006cic\",\"é\":\"\\\"model\\\":\",$}",
        "{\"stream_options\":null,\"model\":\"public\",$,\"stream\":true}",
        "{\"model\":\"public\",\"stream_options\": {} ,$,\"stream\":true}",
        "{\"stream\":true,\"stream_options\":{\"x\":[1]},\"model\":\"public\",$}",
        "{\"model\":\"public\",$,\"stream_options\":{\"include_usage\":false,\"x\":1}}",
        "{\"model\":\"public\",$,\"stream\":true,\"stream_options\":{\"include_usage\": null}}",
      })
  void nothingElseDiffers(String template) throws Exception {
    String body = template.replace("$", MESSAGES);
    Asked asked = chat(body);
    assertThat(EngineRequest.body(asked, place(Dialect.LLAMA_SERVER, "public")))
        .isSameAs(asked.scanned().body());
    assertThat(text(asked, place(Dialect.LLAMA_SERVER, "en\"gine\\é")))
        .isEqualTo(
            body.replaceFirst(
                "\"pub(lic|\\\\u006cic)\"", Matcher.quoteReplacement("\"en\\\"gine\\\\é\"")));
    ObjectNode expected = (ObjectNode) Json.MAPPER.readTree(body);
    expected.put("model", "x");
    if (asked.streamed()) {
      ObjectNode options =
          expected.get("stream_options") instanceof ObjectNode given
              ? given
              : expected.putObject("stream_options");
      options.put("include_usage", true);
    }
    String unknown = text(asked, place(Dialect.UNKNOWN, "x"));
    assertThat(Json.MAPPER.readTree(unknown)).isEqualTo(expected);
    assertThat(unknown).contains(MESSAGES);
  }

  @Test
  void theBuiltInEngineGetsWhatItKnows() throws Exception {
    String forms = ",\"grammar\":\"root ::= [a-z]\",\"json_schema\":{\"enum\":[1]}";
    assertThat(chatFor(Dialect.BUILTIN, forms + ",\"mirostat\":2"))
        .contains(forms)
        .doesNotContain("mirostat");
    String input = "{\"model\":\"public\",\"input\":\"Hi\",\"encoding_format\":\"base64\"";
    byte[] body = (input + ",\"temperature\":0,\"n\":1}").getBytes(UTF_8);
    Asked asked =
        Asked.of(Endpoint.EMBEDDINGS, (Scanned) RequestScan.scan(Endpoint.EMBEDDINGS, body));
    assertThat(text(asked, place(Dialect.BUILTIN, "public"))).isEqualTo(input + "}");
  }

  @Test
  void mlxLmGetsNoNulls() throws Exception {
    assertThat(chatFor(Dialect.MLX_LM, ",\"temperature\":null,\"top_p\":null,\"x\":null"))
        .isEqualTo(
            "{\"stream_options\":{\"include_usage\":true},\"stream\":true,\"max_tokens\":4086,\"model\":\"default_model\","
                    .replace(
                        "\"stream_options\":{\"include_usage\":true},\"stream\":true",
                        "\"stream\":true,\"stream_options\":{\"include_usage\":true}")
                + MESSAGES
                + "}");
    String first =
        text(
            chat("{\"a\":null,\"b\":null,\"model\":\"m\",\"c\":null," + MESSAGES + ",\"d\":null}"),
            place(Dialect.MLX_LM, "m"));
    assertThat(Json.MAPPER.readTree(first).propertyNames())
        .containsExactlyInAnyOrder("stream", "stream_options", "max_tokens", "model", "messages");
  }

  @Test
  void mlxLmNeverLoadsWhatAClientNames() throws Exception {
    assertThat(chatFor(Dialect.MLX_LM, ",\"adapters\":\"/etc\",\"draft_model\":\"x/y\""))
        .doesNotContain("adapters", "draft_model");
  }

  @Test
  void theLongestAnswer() throws Exception {
    assertThat(tree(Dialect.VLLM, ",\"max_tokens\":5000").path("max_tokens").asInt())
        .as("vLLM refuses more than its context")
        .isEqualTo(4096);
    assertThat(tree(Dialect.VLLM, ",\"max_tokens\":-1").has("max_tokens")).isFalse();
    assertThat(tree(Dialect.VLLM, ",\"max_tokens\":7").path("max_tokens").asInt()).isEqualTo(7);
    assertThat(tree(Dialect.MLX_LM, "").path("max_tokens").asInt())
        .as("mlx-lm stops at 512 where nothing is said, and never at the context's end")
        .isEqualTo(4086);
    assertThat(
            tree(Dialect.MLX_LM, ",\"max_tokens\":9,\"max_completion_tokens\":7")
                .path("max_tokens")
                .asInt())
        .isEqualTo(7);
  }

  @Test
  void stopStringsStayWithTheHub() throws Exception {
    assertThat(tree(Dialect.MLX_LM, ",\"stop\":[\"a\"]").has("stop")).isFalse();
    assertThat(tree(Dialect.VLLM, ",\"stop\":[\"a\"]").has("stop")).isTrue();
  }

  @Test
  void aDeveloperIsTheSystem() throws Exception {
    String body =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"developer\",\"content\":\"developer\"}]}";
    assertThat(text(chat(body), place(Dialect.LLAMA_SERVER, "m")))
        .isEqualTo(body.replaceFirst("developer", "system"));
    assertThat(text(chat(body), place(Dialect.UNKNOWN, "m"))).isEqualTo(body);
  }

  @Test
  void severalAnswersAreAskedForOneByOne() throws Exception {
    for (Dialect dialect : Dialect.values()) {
      assertThat(tree(dialect, ",\"n\":3").has("n")).isFalse();
    }
  }

  @Test
  void severalPromptsAreAskedOneByOne() throws Exception {
    Asked asked = completion("{\"model\":\"m\",\"prompt\":[\"a\",\"b\\n\"]}");
    assertThat(text(asked, new Place(Dialect.LLAMA_SERVER, "m", 4096, 1, 0, Optional.empty())))
        .isEqualTo("{\"model\":\"m\",\"prompt\":\"a\"}");
    assertThat(text(asked, new Place(Dialect.LLAMA_SERVER, "m", 4096, 1, 1, Optional.empty())))
        .isEqualTo("{\"model\":\"m\",\"prompt\":\"b\\n\"}");
  }

  @Test
  void toolsThatMayNotBeCalledAreNotOfferedToMlxLm() throws Exception {
    String tools = ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\"}}]";
    assertThat(tree(Dialect.MLX_LM, tools + ",\"tool_choice\":\"none\"").has("tools")).isFalse();
    assertThat(tree(Dialect.MLX_LM, tools).has("tools")).isTrue();
    assertThat(tree(Dialect.VLLM, ",\"tools\":[],\"tool_choice\":\"auto\"").propertyNames())
        .doesNotContain("tools", "tool_choice");
  }

  @Test
  void aToolThatIsNamedIsTheOnlyOneThatLlamaServerIsOffered() throws Exception {
    String tools =
        ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"a\"}},"
            + "{\"type\":\"function\",\"function\":{\"name\":\"b\",\"x\":1}}]";
    String named = tools + ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"b\"}}";

    JsonNode forced = tree(Dialect.LLAMA_SERVER, named);
    assertThat(forced.path("tools").toString())
        .isEqualTo("[{\"type\":\"function\",\"function\":{\"name\":\"b\",\"x\":1}}]");
    assertThat(forced.path("tool_choice").asString("")).isEqualTo("required");
    assertThat(forced.path("parallel_tool_calls").asBoolean(true)).isFalse();

    assertThat(tree(Dialect.VLLM, named).path("tools")).hasSize(2);
    assertThat(tree(Dialect.LLAMA_SERVER, tools + ",\"tool_choice\":\"required\"").path("tools"))
        .hasSize(2);
  }

  @Test
  void howMuchToThinkIsAnArgumentOfTheTemplate() throws Exception {
    JsonNode low = tree(Dialect.VLLM, ",\"reasoning_effort\":\"low\"");
    assertThat(low.path("chat_template_kwargs").toString())
        .isEqualTo("{\"reasoning_effort\":\"low\"}");
    assertThat(low.has("reasoning_effort")).isFalse();
    JsonNode none =
        tree(Dialect.MLX_LM, ",\"chat_template_kwargs\":{\"x\":1},\"reasoning_effort\":\"none\"");
    assertThat(none.path("chat_template_kwargs").toString())
        .isEqualTo("{\"enable_thinking\":false,\"x\":1}");
    assertThat(tree(Dialect.LLAMA_SERVER, ",\"reasoning_effort\":\"low\"").has("reasoning_effort"))
        .isTrue();
  }

  @Test
  void mlxLmNamesTokensOnlyInLists() throws Exception {
    JsonNode asked = tree(Dialect.MLX_LM, ",\"logprobs\":true,\"temperature\":0");
    assertThat(asked.path("top_logprobs").asInt()).isEqualTo(1);
    assertThat(asked.has("stream")).isFalse();
  }

  @Test
  void vllmContinuesWhatTheAssistantBegan() throws Exception {
    Asked begun =
        chat(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\"},{\"role\":\"assistant\",\"content\":\"So\"}]}");
    JsonNode body = Json.MAPPER.readTree(text(begun, place(Dialect.VLLM, "m")));
    assertThat(body.path("continue_final_message").asBoolean()).isTrue();
    assertThat(body.path("add_generation_prompt").asBoolean(true)).isFalse();
  }

  @Test
  void theTokensOfThePromptAreAskedForByTheShortestAnswer() throws Exception {
    byte[] body =
        EngineRequest.bodyToCount(
            chat("{\"model\":\"m\"," + MESSAGES + ",\"stream\":true,\"max_completion_tokens\":9}"),
            place(Dialect.MLX_LM, "m"));
    assertThat(Json.MAPPER.readTree(body).propertyNames())
        .containsExactlyInAnyOrder("model", "messages", "max_tokens");
  }

  @ParameterizedTest
  @EnumSource(names = {"LLAMA_SERVER", "VLLM", "MLX_LM", "BUILTIN"})
  void whatARequestLeavesOpenIsDrawnAsTheNamePromises(Dialect dialect) throws Exception {
    JsonNode silent = drawn(dialect, "\"temperature\":null");
    assertThat(silent.path("temperature").asDouble(-1)).isEqualTo(0.6);
    assertThat(silent.path("top_p").asDouble(-1)).isEqualTo(0.95);
    assertThat(silent.path("top_k").asInt(-1)).isEqualTo(20);
    assertThat(silent.path("min_p").asDouble(-1)).isEqualTo(0.01);
    JsonNode spoken = drawn(dialect, "\"temperature\":1.5,\"top_k\":3");
    assertThat(spoken.path("temperature").asDouble(-1)).isEqualTo(1.5);
    assertThat(spoken.path("top_k").asInt(-1)).isEqualTo(3);
    assertThat(spoken.path("top_p").asDouble(-1)).isEqualTo(0.95);
    assertThat(drawn(dialect, "\"temperature\":0").has("top_k")).as("nothing is drawn").isFalse();
  }

  @Test
  void aServerThatNobodyKnowsDrawsInItsOwnWay() throws Exception {
    assertThat(drawn(Dialect.UNKNOWN, "\"n\":null").has("temperature")).isFalse();
  }

  private static JsonNode drawn(Dialect dialect, String more) throws RequestRefused {
    Sampling promised = new Sampling(0.6, 0.95, 20, 0.01);
    return Json.MAPPER.readTree(
        text(
            chat("{\"model\":\"m\"," + MESSAGES + "," + more + "}"),
            new Place(dialect, "m", 4096, 10, 0, Optional.of(promised))));
  }

  private static String chatFor(Dialect dialect, String more) throws RequestRefused {
    return text(chat("{\"model\":\"m\"," + MESSAGES + more + "}"), place(dialect, "m"));
  }

  private static JsonNode tree(Dialect dialect, String more) throws RequestRefused {
    return Json.MAPPER.readTree(chatFor(dialect, more));
  }

  private static Place place(Dialect dialect, String model) {
    return new Place(dialect, model, 4096, 10, 0, Optional.empty());
  }

  private static String text(Asked asked, Place place) {
    return new String(EngineRequest.body(asked, place), UTF_8);
  }

  private static Asked chat(String body) throws RequestRefused {
    return Asked.of(Endpoint.CHAT, (Scanned) RequestScan.scan(Endpoint.CHAT, body.getBytes(UTF_8)));
  }

  private static Asked completion(String body) throws RequestRefused {
    return Asked.of(
        Endpoint.COMPLETIONS,
        (Scanned) RequestScan.scan(Endpoint.COMPLETIONS, body.getBytes(UTF_8)));
  }
}
