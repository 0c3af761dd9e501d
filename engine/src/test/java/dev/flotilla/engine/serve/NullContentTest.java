package dev.flotilla.engine.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.testkit.client.TestClient;
import dev.flotilla.testkit.client.TestClient.Reply;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.json.JsonMapper;

/** Earlier calls, whose message has no content, and templates that know of that or do not. */
class NullContentTest {
  private static final String CALLS =
      "\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\","
          + "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]";

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "concatenates     ; {{ '[' + m.content + ']' }}                                        ; []",
        "trims            ; [{{ m.content | trim }}]                                           ; []",
        "writes           ; [{{ m.content }}]                                                  ; []",
        "asks for a text  ; [{% if m.content is string %}text{% else %}none{% endif %}]        ; [none]",
        "asks for none    ; [{% if m.content is none %}calls{% else %}{{ m.content }}{% endif %}] ; [calls]",
        "demands a text   ; {% if m.content is none %}{{ raise_exception('no text') }}{% endif %}[{{ m.content }}] ; []",
      })
  void isWhatTheTemplateCanTake(String what, String template, String told) {
    String all =
        "{% for m in messages %}{% if m.role == 'assistant' %}"
            + template
            + "{% endif %}{% endfor %}";
    assertThat(prompt(all, "\"content\":null," + CALLS)).as(what).isEqualTo(told);
  }

  @Test
  void aContentThatIsNotThereIsTheSame() {
    String all =
        "{% for m in messages %}{% if m.role == 'assistant' %}{{ '[' + m.content + ']' }}{% endif %}"
            + "{% endfor %}";
    assertThat(prompt(all, CALLS)).isEqualTo("[]");
  }

  @Test
  void theWordNoneInATextChangesNothing() {
    String all =
        "{% for m in messages %}{% if m.content is none %}calls{% else %}{{ m.content }}{% endif %}|"
            + "{% endfor %}";
    assertThat(prompt(all, "\"content\":null," + CALLS)).isEqualTo("None of it|calls|");
  }

  private String prompt(String template, String assistant) {
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"None of it\"},{\"role\":\"assistant\","
            + assistant
            + "}]}";
    try (LetterServer server = LetterServer.start(LetterModel.served(folder, template));
        TestClient client = server.client()) {
      Reply reply = client.post("/apply-template", body).reply();
      assertThat(reply.status()).as(reply.body()).isEqualTo(200);
      return JsonMapper.shared().readTree(reply.body()).path("prompt").stringValue();
    }
  }
}
