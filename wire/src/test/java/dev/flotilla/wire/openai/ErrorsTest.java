package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Errors as we write them, and as engines do. */
class ErrorsTest {
  @Test
  void anErrorHasOpenAisForm() {
    ApiError error = ApiError.badRequest("invalid_type", "\"n\" must\nbe é \ud800", "n");
    String body =
        "{\"error\":{\"message\":\"\\\"n\\\" must\\nbe é ?\",\"type\":\"invalid_request_error\","
            + "\"param\":\"n\",\"code\":\"invalid_type\"}}";
    assertThat(new String(ApiErrors.body(error), UTF_8)).isEqualTo(body);
    assertThat(new String(ApiErrors.event(error), UTF_8)).isEqualTo("data: " + body + "\n\n");
    assertThat(new String(ApiErrors.body(ApiError.notFound("c", "m")), UTF_8))
        .contains("\"param\":null");
  }

  @Test
  void llamaServersErrorsAreRead() {
    assertThat(
            parse(
                "{\"error\":{\"code\":400,\"message\":\"the request exceeds\",\"type\":\"exceed_context_size_error\","
                    + "\"n_prompt_tokens\":5000,\"n_ctx\":4096}}"))
        .isEqualTo(
            new EngineError(
                "the request exceeds",
                "exceed_context_size_error",
                "400",
                "",
                Optional.of(new EngineError.ContextOverflow(5000, 4096))));
    assertThat(
            parse(
                "{\"error\":{\"code\":503,\"message\":\"Loading model\",\"type\":\"unavailable_error\"}}"))
        .isEqualTo(
            new EngineError("Loading model", "unavailable_error", "503", "", Optional.empty()));
  }

  @Test
  void vllmsErrorsAreReadNestedAndAtTheTop() {
    EngineError missing =
        new EngineError(
            "The model `x` does not exist.", "NotFoundError", "404", "", Optional.empty());
    String top =
        "{\"object\":\"error\",\"message\":\"The model `x` does not exist.\",\"type\":\"NotFoundError\",\"param\":null,\"code\":404}";
    assertThat(parse(top)).isEqualTo(missing);
    assertThat(parse("{\"error\":" + top + "}")).isEqualTo(missing);
    assertThat(parse("{\"message\":\"top_p is 2\",\"param\":\"top_p\",\"code\":400}").param())
        .isEqualTo("top_p");
    assertThat(parse("{\"error\":\"Unauthorized\"}").message()).isEqualTo("Unauthorized");
    assertThat(parse("{\"detail\":\"Not Found\"}").message()).isEqualTo("Not Found");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens, which exceeds | 4097 | 4096",
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4500 in the messages, 500 in the completion). | 4500 | 4096",
        "'max_tokens' is too large: 5000. This model's maximum context length is 4096 tokens and your request has 1000 input tokens | 1000 | 4096",
        "You passed 5001 input tokens and requested 16 output tokens. However, the model's context length is only 4096 tokens | 5001 | 4096",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096. | 5000 | 4096",
        "This model's maximum context length is 4096 tokens. However, your messages resulted in 5000 tokens. | 5000 | 4096",
        "This model's maximum context length is 4096 tokens. | -1 | 4096",
        "input (601 tokens) is too large to process. increase the physical batch size (current batch size: 512) | 601 | 512",
        "a text of the input has 3001 tokens, and a text has 1024 at most | 3001 | 1024",
        "the prompt has 5001 tokens, and prompt and answer have 4096 together at most | 5001 | 4096",
        "the prompt has at least 7000 tokens, and prompt and answer have 4096 together at most | -1 | 4096",
        "a text of the input has at least 1236 tokens, and a text has 1024 at most | 1236 | 1024",
      })
  void aPromptThatIsTooLongIsUnderstood(String message, long prompt, long context) {
    assertThat(parse("{\"error\":{\"message\":\"" + message + "\"}}").overflow())
        .contains(new EngineError.ContextOverflow(prompt, context));
  }

  @Test
  void openAisCodeIsEnough() {
    assertThat(parse("{\"error\":{\"code\":\"context_length_exceeded\"}}").overflow())
        .contains(new EngineError.ContextOverflow(-1, -1));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<html></html>",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        "{\"error\":null}",
        "{\"error\":[1]}",
        "{\"error\":{\"message\":7.5,\"code\":{},\"type\":null}}"
      })
  void whatIsNoErrorIsUnknown(String body) {
    assertThat(parse(body)).isEqualTo(EngineError.UNKNOWN);
  }

  @Test
  void aLongMessageIsCut() {
    assertThat(parse("{\"error\":\"" + "x".repeat(100_000) + "\"}").message()).hasSize(2001);
    assertThat(parse("{\"error\":{\"type\":\"" + "x".repeat(100_000) + "\"}}").type()).hasSize(101);
  }

  private static EngineError parse(String body) {
    return EngineError.parse(body.getBytes(UTF_8));
  }
}
