package dev.flotilla.bench.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.data.Offset.offset;

import dev.flotilla.bench.dataset.AgentPrompts.Conversation;
import dev.flotilla.testkit.scripted.ScriptedEngine;
import dev.flotilla.testkit.scripted.ScriptedEngine.Tokens;
import dev.flotilla.wire.http.HttpHeaders;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The agents' conversations have the shape of SiliconBench's agent split, whatever the seed. */
final class AgentPromptsTest {

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 42, -7, Long.MIN_VALUE})
  void aHundredConversationsHaveTheShapeOfTheSplit(long seed) {
    List<Conversation> all = AgentPrompts.conversations(100, seed, 1);

    assertThat(roles(all))
        .isEqualTo(Map.of("system", 100, "user", 195, "assistant", 485, "tool", 509));
    assertThat(lastRoles(all)).isEqualTo(Map.of("tool", 64, "user", 35, "assistant", 1));
    assertThat(messages(all).stream().filter(each -> each.path("content").isNull())).hasSize(428);
    var count = all.stream().mapToInt(each -> each.messages().size()).summaryStatistics();
    assertThat(count.getMin()).isEqualTo(2);
    assertThat(count.getMax()).isEqualTo(20);
    assertThat(count.getAverage()).isCloseTo(12.9, offset(0.05));
    Set<JsonNode> first = new HashSet<>();
    all.forEach(each -> first.add(each.messages().get(0)));
    assertThat(first).hasSize(34);
    assertThat(all.stream().mapToInt(Conversation::chars).average().orElseThrow())
        .isCloseTo(17_300, offset(1_500.0));
    assertThat(all.stream().mapToInt(Conversation::chars).max().orElseThrow())
        .isBetween(30_000, 52_000);
    assertThat(sharedShare(all)).isCloseTo(0.525, offset(0.03));
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 0.2, 0})
  void aSmallerScaleKeepsTheShape(double scale) {
    List<Conversation> small = AgentPrompts.conversations(100, 0, scale);

    assertThat(roles(small)).isEqualTo(roles(AgentPrompts.conversations(100, 0, 1)));
    assertThat(sharedShare(small)).isCloseTo(0.5, offset(0.08));
  }

  @Test
  void everyToolResultAnswersACallOfTheMessageBefore() {
    for (Conversation conversation : AgentPrompts.conversations(100, 3, 1)) {
      List<String> open = new ArrayList<>();
      for (JsonNode message : conversation.messages()) {
        if (message.path("role").asString().equals("tool")) {
          assertThat(open.remove(message.path("tool_call_id").asString())).isTrue();
        } else {
          assertThat(open).isEmpty();
        }
        for (JsonNode call : message.path("tool_calls")) {
          open.add(call.path("id").asString());
          assertThat(call.path("id").asString()).hasSize(9);
          String arguments = call.at("/function/arguments").asString();
          assertThat(JsonMapper.shared().readTree(arguments).isObject()).isTrue();
        }
      }
      assertThat(conversation.rendered()).doesNotContain("{thing}", "{person}", ": null");
    }
  }

  @Test
  void theSeedDecidesAndMoreConversationsBeginAlike() {
    assertThat(AgentPrompts.conversations(100, 5, 1))
        .isEqualTo(AgentPrompts.conversations(100, 5, 1))
        .isNotEqualTo(AgentPrompts.conversations(100, 6, 1));
    List<Conversation> more = AgentPrompts.conversations(250, 5, 1);
    assertThat(more.subList(0, 100)).isEqualTo(AgentPrompts.conversations(100, 5, 1));
    assertThat(new HashSet<>(more).size()).isEqualTo(250);
  }

  @Test
  void theServersContextShrinksThemWithoutBeingTold() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start().contextTokens(2_048);
        Server server = server(engine)) {
      Dataset made =
          new Datasets(server, "scripted", DatasetLimits.DEFAULTS).make(DatasetOptions.of("agent"));

      assertThat(made.description()).isEqualTo("agent scaled to a context of 2048");
      assertThat(made.notes())
          .singleElement()
          .asString()
          .startsWith(
              "Conversations are shrunk to fit a context of 2,048 tokens: tool results have ");
      assertThat(made.prompts()).hasSize(100);
      assertThat(made.prompts())
          .allSatisfy(prompt -> {
            assertThat(prompt.maxTokens()).isEqualTo(256);
            Prompt.Input.Messages input = (Prompt.Input.Messages) prompt.input();
            assertThat(input.messages().split("\\s+").length).isLessThan(2_048 - 256);
          });
    }
  }

  @Test
  void aContextThatIsTooSmallForAnyIsToldWhatItWouldTake() {
    try (ScriptedEngine engine = ScriptedEngine.start().tokens(Tokens.PER_BYTE);
        Server server = server(engine)) {
      Datasets datasets = new Datasets(server, "scripted", DatasetLimits.DEFAULTS);

      assertThatThrownBy(() -> datasets.make(DatasetOptions.of("agent").withMaxContext(1_000)))
          .isInstanceOf(DatasetRefused.class)
          .hasMessageMatching(
              "--max-context: agents' conversations need a context of at least \\d+ tokens for"
                  + " answers of 256, not 1000");
    }
  }

  @Test
  void questionsOfAChatAreAllDifferentAndHalfOfTheAnswersShort() throws Exception {
    try (ScriptedEngine engine = ScriptedEngine.start();
        Server server = server(engine)) {
      Datasets datasets = new Datasets(server, "scripted", DatasetLimits.DEFAULTS);
      Dataset made = datasets.make(DatasetOptions.of("chat").withCount(500));

      assertThat(made.prompts().stream().map(Prompt::input)).doesNotHaveDuplicates();
      assertThat(made.prompts().stream().filter(prompt -> prompt.maxTokens() == 64)).hasSize(250);
      assertThat(made.prompts().stream().filter(prompt -> prompt.maxTokens() == 256)).hasSize(250);
      assertThat(made.prompts())
          .allSatisfy(prompt ->
              assertThat(prompt.input().toString()).doesNotContainPattern("\\{(?!\")\\w+\\}"));
      assertThat(datasets.make(DatasetOptions.of("chat").withCount(500))).isEqualTo(made);
      assertThat(engine.requests()).as("nothing is asked of the server").isEmpty();
    }
  }

  private static Server server(ScriptedEngine engine) {
    return new Server(URI.create(engine.url()), HttpHeaders.NONE, Optional.empty());
  }

  private static List<JsonNode> messages(List<Conversation> conversations) {
    return conversations.stream().flatMap(each -> each.messages().valueStream()).toList();
  }

  private static Map<String, Integer> roles(List<Conversation> conversations) {
    Map<String, Integer> roles = new TreeMap<>();
    messages(conversations)
        .forEach(each -> roles.merge(each.path("role").asString(), 1, Integer::sum));
    return roles;
  }

  private static Map<String, Integer> lastRoles(List<Conversation> conversations) {
    Map<String, Integer> roles = new TreeMap<>();
    conversations.forEach(each ->
        roles.merge(
            each.messages().get(each.messages().size() - 1).path("role").asString(),
            1,
            Integer::sum));
    return roles;
  }

  /** Of all characters, those that begin a prompt as an earlier one begins. */
  private static double sharedShare(List<Conversation> conversations) {
    long shared = 0;
    long all = 0;
    List<String> before = new ArrayList<>();
    for (Conversation conversation : conversations) {
      String text = conversation.rendered();
      int most = 0;
      for (String earlier : before) {
        int common = 0;
        int end = Math.min(text.length(), earlier.length());
        while (common < end && text.charAt(common) == earlier.charAt(common)) {
          common++;
        }
        most = Math.max(most, common);
      }
      shared += most;
      all += text.length();
      before.add(text);
    }
    return (double) shared / all;
  }
}
