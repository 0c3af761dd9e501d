package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.Prompt.Input;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/**
 * The same prompts once more, so that no cache knows them from the run before.
 *
 * <p>A few characters are put in front of the first text of each prompt: caches of prefixes know a
 * prompt by how it begins, and would serve all of one that differs at its end alone. All prompts of
 * a run get the same characters, so what they share among each other they still share. Every
 * variant is equally long.
 */
public final class Variant {
  /** Variants are numbered from 0 to below this. */
  public static final int COUNT = 10_000;

  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private Variant() {}

  /** The prompts as variant {@code number}. */
  public static List<Prompt> of(List<Prompt> prompts, int number) {
    if (number < 0 || number >= COUNT) {
      throw new IllegalArgumentException("there is no variant " + number);
    }
    // Spelled with letters: digits would be tokens of their own, and some are joined in pairs.
    String mark = String.format(Locale.ROOT, "%s ", letters(number));
    return prompts.stream().map(prompt -> marked(prompt, mark)).toList();
  }

  private static String letters(int number) {
    StringBuilder letters = new StringBuilder();
    for (int rest = number, place = 0; place < 4; place++, rest /= 10) {
      letters.append((char) ('a' + rest % 10)).append(place < 3 ? " " : ".");
    }
    return letters.toString();
  }

  private static Prompt marked(Prompt prompt, String mark) {
    Input input =
        switch (prompt.input()) {
          case Input.Text text -> new Input.Text(mark + text.text());
          case Input.Messages messages ->
              new Input.Messages(marked(messages.messages(), mark), messages.tools());
        };
    return new Prompt(
        prompt.name(), input, -1, prompt.maxTokens(), prompt.ignoreEos(), prompt.at());
  }

  private static String marked(String messages, String mark) {
    ArrayNode all = (ArrayNode) MAPPER.readTree(messages);
    for (JsonNode message : all) {
      JsonNode content = message.path("content");
      if (content.isString()) {
        ((ObjectNode) message).set("content", StringNode.valueOf(mark + content.asString()));
        break;
      }
      if (content.isArray() && content.path(0).path("text").isString()) {
        ((ObjectNode) content.get(0)).put("text", mark + content.get(0).path("text").asString());
        break;
      }
    }
    return MAPPER.writeValueAsString(all);
  }
}
