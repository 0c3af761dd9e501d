package dev.flotilla.shape.request;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.request.Asked.ToolChoice;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.RequestScan;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What requests ask for, and what is refused before any engine sees it. */
class AskedTest {
  private static final String TOOLS =
      ",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"get_weather\"}}]";

  @Test
  void anOrdinaryChatAsksForNothingThatAnEngineCouldLack() throws Exception {
    Asked asked = chat(",\"temperature\":0.5,\"stop\":null,\"tools\":null,\"n\":1,\"seed\":1");
    assertThat(asked.features()).isEmpty();
    assertThat(asked.answers()).isEqualTo(1);
    assertThat(asked.logprobs()).isFalse();
    assertThat(asked.toolChoice()).isEqualTo(ToolChoice.FREE);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"response_format\":{\"type\":\"json_object\"} | JSON_OBJECT",
        "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{}} | JSON_SCHEMA",
        "\"response_format\":{\"type\":\"structural_tag\"} | STRUCTURED_OUTPUTS",
        "\"structured_outputs\":{\"choice\":[\"a\"]} | STRUCTURED_OUTPUTS",
        "\"guided_choice\":[\"a\"] | GUIDED_DECODING",
        "\"grammar\":\"root ::= x\" | GBNF_GRAMMAR",
        "\"stop\":[\"a\",\"b\"] | STOP_STRINGS",
        "\"n\":3 | SEVERAL_ANSWERS",
        "\"logit_bias\":{\"1\":2} | LOGIT_BIAS",
        "\"logprobs\":true,\"temperature\":0 | LOGPROBS",
        "\"logprobs\":true | LOGPROBS,SAMPLED_LOGPROBS",
        "\"logprobs\":true,\"temperature\":0,\"top_logprobs\":12 | LOGPROBS,MANY_LOGPROBS",
        "\"logprobs\":true,\"temperature\":0,\"stream\":true | STREAMED_LOGPROBS",
        "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{}}]}] | MEDIA",
        "\"messages\":[{\"role\":\"assistant\",\"content\":\"So\"}] | PREFILL",
      })
  void whatAChatAsksFor(String fields, String features) throws Exception {
    String messages =
        fields.contains("messages") ? "" : "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}],";
    Asked asked = asked(Endpoint.CHAT, "{\"model\":\"m\"," + messages + fields + "}");
    assertThat(asked.features()).map(Feature::name).containsExactlyInAnyOrder(features.split(","));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"prompt\":\"\" | EMPTY_PROMPT",
        "\"prompt\":[\"a\",\"\"] | SEVERAL_PROMPTS,EMPTY_PROMPT",
        "\"prompt\":[1,2] | TOKEN_PROMPT",
        "\"prompt\":[[1],[2]] | TOKEN_PROMPT,SEVERAL_PROMPTS",
        "\"prompt\":\"x\",\"echo\":true | ECHO",
        "\"prompt\":\"x\",\"suffix\":\"s\" | SUFFIX",
        "\"prompt\":\"x\",\"best_of\":2 | BEST_OF",
        "\"prompt\":\"x\",\"logprobs\":2 | COMPLETION_LOGPROBS",
      })
  void whatACompletionAsksFor(String fields, String features) throws Exception {
    Asked asked = asked(Endpoint.COMPLETIONS, "{\"model\":\"m\"," + fields + "}");
    assertThat(asked.features()).map(Feature::name).containsExactlyInAnyOrder(features.split(","));
  }

  @Test
  void eachOfSeveralPromptsHasAnAnswer() throws Exception {
    Asked asked = asked(Endpoint.COMPLETIONS, "{\"model\":\"m\",\"prompt\":[\"a\",\"b\",\"c\"]}");
    assertThat(asked.answers()).isEqualTo(3);
    assertThat(asked(Endpoint.COMPLETIONS, "{\"model\":\"m\",\"prompt\":[1,2,3]}").answers())
        .isEqualTo(1);
  }

  @Test
  void whichToolIsToBeCalled() throws Exception {
    assertThat(chat(TOOLS + ",\"tool_choice\":\"none\"").offersTools()).isFalse();
    Asked forced =
        chat(
            TOOLS
                + ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"get_weather\"}}");
    assertThat(forced.toolChoice()).isEqualTo(ToolChoice.FORCED);
    assertThat(forced.features())
        .containsExactlyInAnyOrder(Feature.TOOLS, Feature.FORCED_TOOL_CALL);
    assertThat(chat(TOOLS + ",\"parallel_tool_calls\":false").oneToolCall()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"max_tokens\":0 | max_tokens | \"max_tokens\" must be at least 1",
        "\"stop\":[\"\"] | stop[0] | \"stop[0]\" must be of 1 to 256 characters",
        "\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"] | stop | \"stop\" has 17 strings; at most 16 are allowed",
        "\"response_format\":{\"type\":\"xml\"} | response_format.type | \"response_format.type\" must be one of text, json_object, json_schema, structural_tag",
        "\"logprobs\":1 | logprobs | \"logprobs\" must be true or false",
        "\"logprobs\":true,\"top_logprobs\":21 | top_logprobs | \"top_logprobs\" must be an integer from 0 to 20",
        "\"top_logprobs\":2 | top_logprobs | \"top_logprobs\" needs \"logprobs\" to be true",
        "\"tool_choice\":\"required\" | tool_choice | \"tool_choice\" needs \"tools\" to choose from",
        "\"tool_choice\":\"any\" | tool_choice | \"tool_choice\" must be \"none\", \"auto\", \"required\" or an object that names a tool",
        "\"tools\":[{\"function\":{\"name\":\"a\"}}],\"tool_choice\":{\"function\":{\"name\":\"b\"}} | tool_choice | \"tool_choice\" names a tool that is not among \"tools\"",
        "\"chat_template_kwargs\":\"x\" | chat_template_kwargs | \"chat_template_kwargs\" must be an object",
        "\"chat_template_kwargs\":{\"return_tensors\":\"np\"} | chat_template_kwargs.return_tensors | \"chat_template_kwargs.return_tensors\" is not for the template; leave it out",
        "\"reasoning_effort\":3 | reasoning_effort | \"reasoning_effort\" must be a string, such as \"low\"",
      })
  void whatNoEngineShouldSeeIsRefusedByItsName(String fields, String param, String message) {
    ApiError error = catchThrowableOfType(RequestRefused.class, () -> chat("," + fields)).error();
    assertThat(error.status()).isEqualTo(400);
    assertThat(error.param()).isEqualTo(param);
    assertThat(error.message()).isEqualTo(message);
  }

  @Test
  void mlxLmIsAskedForAStreamWhateverTheClientWants() throws Exception {
    assertThat(chat("").streamedBy(Dialect.MLX_LM)).isTrue();
    assertThat(chat("").streamedBy(Dialect.VLLM)).isFalse();
    assertThat(chat(",\"logprobs\":true").streamedBy(Dialect.MLX_LM))
        .as("it leaves log-probabilities out of streams")
        .isFalse();
    assertThat(chat(",\"stream\":true").streamedBy(Dialect.VLLM)).isTrue();
  }

  @Test
  void vectorsOfAnotherLengthAreAFeature() throws Exception {
    assertThat(asked(Endpoint.EMBEDDINGS, "{\"model\":\"m\",\"input\":[[1,2],\"a\"]}").features())
        .isEmpty();
    assertThat(
            asked(Endpoint.EMBEDDINGS, "{\"model\":\"m\",\"input\":[1,2],\"dimensions\":8}")
                .features())
        .containsExactly(Feature.DIMENSIONS);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"input\":\"\" | input",
        "\"input\":[] | input",
        "\"input\":[\"a\",\"\"] | input[1]",
        "\"input\":[\"a\",[]] | input[1]",
        "\"input\":[\"a\",7] | input[1]",
        "\"input\":[7,\"a\"] | input[1]",
        "\"input\":[{}] | input[0]",
        "\"input\":\"a\",\"encoding_format\":\"hex\" | encoding_format",
        "\"input\":\"a\",\"encoding_format\":[1] | encoding_format",
      })
  void whatNoVectorIsMadeOfIsRefusedAndNamed(String fields, String field) {
    RequestRefused refused =
        catchThrowableOfType(
            RequestRefused.class,
            () -> asked(Endpoint.EMBEDDINGS, "{\"model\":\"m\"," + fields + "}"));
    assertThat(refused.error().param()).isEqualTo(field);
  }

  private static Asked chat(String more) throws RequestRefused {
    return asked(
        Endpoint.CHAT,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]" + more + "}");
  }

  private static Asked asked(Endpoint endpoint, String body) throws RequestRefused {
    return Asked.of(endpoint, (Scanned) RequestScan.scan(endpoint, body.getBytes(UTF_8)));
  }
}
