package dev.flotilla.bench.dataset;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The same prompts once more, but new to a prefix cache: a sweep's levels and an experiment's arms
 * send like work and may not answer it from what the run before left behind.
 *
 * <p>A mark of one word, of the run and of nothing else, goes in front of what is asked: of the
 * text, or of the first message that has a text. Caches go by what stands at the beginning, so
 * within one run prompts share with each other what they shared before, and across runs next to
 * nothing. It adds a few tokens to each prompt, the same number to all.
 */
public final class Variants {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int LETTERS = 5;

  private Variants() {}

  /**
   * The variant of that name: the same name gives the same prompts.
   *
   * @param variant what sets runs apart, such as a level and a repetition, {@code c8-2}
   */
  public static Dataset of(Dataset dataset, String variant) {
    String mark = mark(variant);
    List<Prompt> prompts = new ArrayList<>(dataset.prompts().size());
    for (Prompt prompt : dataset.prompts()) {
      prompts.add(
          new Prompt(
              prompt.name(),
              marked(prompt.input(), mark),
              prompt.inputTokens(),
              prompt.maxTokens(),
              prompt.ignoreEos(),
              prompt.at()));
    }
    return new Dataset(dataset.description(), prompts, dataset.notes());
  }

  /**
   * Letters of the alphabet, so that it is few tokens, in brackets, so that no word grows of it.
   */
  private static String mark(String variant) {
    var random = Seeds.generator(variant.hashCode(), variant.length());
    StringBuilder mark = new StringBuilder("[");
    for (int i = 0; i < LETTERS; i++) {
      mark.append((char) ('a' + random.nextInt(26)));
    }
    return mark.append("] ").toString();
  }

  private static Prompt.Input marked(Prompt.Input input, String mark) {
    return switch (input) {
      case Prompt.Input.Text text -> new Prompt.Input.Text(mark + text.text());
      case Prompt.Input.Messages messages ->
          new Prompt.Input.Messages(marked(messages.messages(), mark), messages.tools());
    };
  }

  private static String marked(String messages, String mark) {
    JsonNode parsed;
    try {
      parsed = MAPPER.readTree(messages);
    } catch (JacksonException e) {
      throw new IllegalArgumentException("a prompt's messages are JSON", e);
    }
    for (JsonNode message : parsed) {
      JsonNode content = message.path("content");
      if (content.isString()) {
        ((ObjectNode) message).put("content", mark + content.asString());
        return parsed.toString();
      }
      for (JsonNode part : content) {
        if (part.path("text").isString()) {
          ((ObjectNode) part).put("text", mark + part.path("text").asString());
          return parsed.toString();
        }
      }
    }
    // Nothing that can be read: what the template makes of it is the same each time.
    ((ArrayNode) parsed).insertObject(0).put("role", "user").put("content", mark.strip());
    return parsed.toString();
  }
}
