package dev.flotilla.shape.reply;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.text.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.ObjectNode;

/** However an answer is cut into events, its client gets the same answer. */
class AnySplitTest {
  private static final int ROUNDS = 400;
  private static final List<String> PARTS =
      List.of(
          "<think>",
          "</think>",
          "<tool_call>",
          "</tool_call>",
          "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"<think> é 😀\"}}",
          "<function=get_weather>\n<parameter=days>\n3\n</parameter>\n</function>",
          "[TOOL_CALLS]",
          "<|python_tag|>",
          "{\"na",
          "```",
          "`",
          "~~~\n",
          "\n",
          "\n\n",
          " ",
          "<",
          "{",
          "Paris is the capital.",
          "STO",
          "STOP",
          "é😀");

  @ParameterizedTest
  @EnumSource(Reasoning.class)
  void theAnswerIsTheSame(Reasoning reasoning) {
    Random random = new Random(7);
    String more = ",\"tools\":" + Said.WEATHER + ",\"stop\":[\"STOP\"]";
    for (int round = 0; round < ROUNDS; round++) {
      String text = text(random);
      String finish = random.nextBoolean() ? "stop" : "length";
      Said said = Said.by(Dialect.MLX_LM, reasoning, more);
      ObjectNode whole = said.assembled(events(List.of(text), finish));
      for (int cut = 0; cut < 3; cut++) {
        List<String> pieces = pieces(text, cut, random);
        assertThat(said.assembled(events(pieces, finish)).toString())
            .as("%s, cut into %s", text, pieces)
            .isEqualTo(whole.toString());
      }
    }
  }

  @Test
  void whatIsHeldBackComesAtTheLatestWithTheFinish() {
    Random random = new Random(8);
    for (int round = 0; round < ROUNDS; round++) {
      String text = text(random);
      Said said = Said.by(Dialect.MLX_LM, Reasoning.INLINE);
      ObjectNode whole = said.assembled(events(pieces(text, 0, random), "stop"));
      assertThat(whole.path("choices").path(0).path("message").path("content").asString())
          .as("nothing is looked for in the text, so nothing may be lost of it")
          .isEqualTo(text);
    }
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 9); i > 0; i--) {
      text.append(PARTS.get(random.nextInt(PARTS.size())));
    }
    return text.toString();
  }

  /** Cut 0 is after each character, the others are anywhere. */
  private static List<String> pieces(String text, int cut, Random random) {
    List<String> pieces = new ArrayList<>();
    for (int at = 0; at < text.length(); ) {
      int to = Math.min(text.length(), at + (cut == 0 ? 1 : 1 + random.nextInt(9)));
      if (to < text.length() && Character.isLowSurrogate(text.charAt(to))) {
        to++;
      }
      pieces.add(text.substring(at, to));
      at = to;
    }
    return pieces;
  }

  private static String[] events(List<String> pieces, String finish) {
    List<String> events = new ArrayList<>();
    for (String piece : pieces) {
      events.add(
          Said.mlx(
              "{\"role\": \"assistant\", \"content\": "
                  + Json.MAPPER.writeValueAsString(piece)
                  + "}",
              "null"));
    }
    events.add(Said.mlx("{\"role\": \"assistant\"}", "\"" + finish + "\""));
    return events.toArray(String[]::new);
  }
}
