package dev.flotilla.bench.load;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Prompt.Input;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What goes to the server. */
class RequestFormTest {

  @Test
  void aTextIsOneUsersMessage() {
    assertThat(body(new RequestForm(Endpoint.OPENAI_CHAT, "m"), text("Say \"hi\"\n")))
        .isEqualTo(
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\\n\"}],"
                + "\"max_tokens\":5,\"temperature\":0,\"stream\":true,\"stream_options\":"
                + "{\"include_usage\":true,\"continuous_usage_stats\":true},\"ignore_eos\":true}");
  }

  @Test
  void aConversationGoesByteForByteWithItsTools() {
    String messages = "[ {\"role\" : \"user\",\"content\":\"a\"} ]";
    Prompt prompt =
        new Prompt(
            "p", new Input.Messages(messages, Optional.of("[{}]")), -1, 5, false, Optional.empty());

    assertThat(body(new RequestForm(Endpoint.OPENAI_CHAT, "m"), prompt))
        .contains("\"messages\":" + messages + ",\"tools\":[{}],")
        .doesNotContain("ignore_eos");
    assertThatThrownBy(() -> new RequestForm(Endpoint.OPENAI, "m").body(prompt))
        .hasMessageContaining("use openai-chat");
  }

  @Test
  void aCompletionHasItsPrompt() {
    assertThat(body(new RequestForm(Endpoint.OPENAI, "m"), text("Hi")))
        .contains("\"prompt\":\"Hi\"")
        .doesNotContain("messages");
  }

  @Test
  void extraFieldsAddReplaceAndTakeOut() {
    RequestForm form =
        new RequestForm(
            Endpoint.OPENAI_CHAT,
            "/chat/completions",
            "m",
            false,
            false,
            RequestForm.fields(
                "{\"temperature\":null,\"top_p\":0.9,\"max_completion_tokens\":7,"
                    + "\"chat_template_kwargs\":{\"enable_thinking\":false}}"));

    assertThat(body(form, text("Hi")))
        .doesNotContain("temperature", "\"max_tokens\"", "continuous_usage_stats")
        .contains(
            "\"top_p\":0.9",
            "\"max_completion_tokens\":7",
            "\"chat_template_kwargs\":{\"enable_thinking\":false}");
  }

  @Test
  void whatIsNoObjectIsNotTakenForFields() {
    assertThatThrownBy(() -> RequestForm.fields("[1]"))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> RequestForm.fields("{\"a\":"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Prompt text(String text) {
    return new Prompt("p", new Input.Text(text), 2, 5, true, Optional.empty());
  }

  private static String body(RequestForm form, Prompt prompt) {
    return new String(form.body(prompt), UTF_8);
  }
}
