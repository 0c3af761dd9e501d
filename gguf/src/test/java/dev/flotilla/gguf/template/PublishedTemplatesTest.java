package dev.flotilla.gguf.template;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.sandbox.TemplateLimits;
import dev.flotilla.gguf.sandbox.TemplateRefused;
import dev.flotilla.testkit.real.Needs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Chat templates that models were published with, to the character. They are their owners', so they
 * are read from a folder of the machine and not kept here: {@code conversations.json} has the
 * variables by the conversation's name, {@code expected.json} by {@code TEMPLATE|CONVERSATION} what
 * Python renders, or that the template refuses the conversation.
 */
class PublishedTemplatesTest {
  private static final Clock NOW =
      Clock.fixed(Instant.parse("2026-01-02T00:00:00Z"), ZoneOffset.UTC);

  @TestFactory
  List<DynamicTest> rendersWhatPythonRenders() throws Exception {
    Path folder = Needs.cases("chat-templates");
    Map<String, Map<String, Object>> conversations =
        JsonMapper.shared()
            .readValue(
                Files.readString(folder.resolve("conversations.json")),
                new TypeReference<Map<String, Map<String, Object>>>() {});
    JsonNode expected =
        JsonMapper.shared().readTree(Files.readString(folder.resolve("expected.json")));
    List<DynamicTest> tests = new ArrayList<>();
    expected.forEachEntry((name, outcome) -> {
      int bar = name.indexOf('|');
      Path template = folder.resolve(name.substring(0, bar));
      Map<String, Object> conversation =
          conversations.getOrDefault(name.substring(bar + 1), Map.of());
      tests.add(DynamicTest.dynamicTest(name, () -> check(template, conversation, outcome)));
    });
    assertThat(tests).isNotEmpty();
    return tests;
  }

  private static void check(Path file, Map<String, Object> conversation, JsonNode outcome)
      throws Exception {
    ChatTemplate template = ChatTemplate.parse(Files.readString(file), TemplateLimits.DEFAULTS);
    if (outcome.path("ok").asBoolean()) {
      assertThat(template.render(conversation, NOW)).isEqualTo(outcome.path("text").asString());
      return;
    }
    assertThatThrownBy(() -> template.render(conversation, NOW))
        .as(outcome.path("error").asString())
        .isInstanceOf(TemplateRefused.class);
  }
}
