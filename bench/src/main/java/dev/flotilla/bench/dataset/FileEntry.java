package dev.flotilla.bench.dataset;

import dev.flotilla.bench.dataset.EntryReader.Bad;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/**
 * One entry of a file, in whichever of three forms it is written: SiliconBench's {@code {name,
 * description, messages, max_tokens}}, ShareGPT's {@code {conversations: [{from, value}, …]}}, of
 * which the first two turns count, or a {@code {prompt, output_tokens}} as {@code vllm bench serve}
 * calls it {@code custom}.
 *
 * @param name its own, else its line's
 * @param completion ShareGPT: what was answered then, which says how long an answer is
 * @param maxTokens its own; 0 where it has none
 */
record FileEntry(String name, Prompt.Input input, Optional<String> completion, int maxTokens) {
  private static final int NAME_CHARS_MAX = 200;

  /**
   * Reads one.
   *
   * @return empty where it is a conversation of fewer than two turns
   */
  static Optional<FileEntry> of(int line, JsonNode entry, DatasetLimits limits) throws Bad {
    if (entry.has("messages")) {
      return Optional.of(
          new FileEntry(
              name(entry, line),
              new Prompt.Input.Messages(messages(entry.path("messages")), tools(entry)),
              Optional.empty(),
              tokens(entry, "max_tokens", limits)));
    }
    if (entry.has("conversations")) {
      JsonNode turns = entry.path("conversations");
      if (!turns.isArray()) {
        throw new Bad("conversations is an array of turns");
      }
      if (turns.size() < 2) {
        return Optional.empty();
      }
      return Optional.of(
          new FileEntry(
              "line-" + line,
              new Prompt.Input.Text(value(turns.get(0))),
              Optional.of(value(turns.get(1))),
              0));
    }
    if (entry.has("prompt")) {
      JsonNode prompt = entry.path("prompt");
      if (!prompt.isString() || prompt.asString().isEmpty()) {
        throw new Bad("prompt is a text");
      }
      return Optional.of(
          new FileEntry(
              name(entry, line),
              new Prompt.Input.Text(prompt.asString()),
              Optional.empty(),
              tokens(entry, "output_tokens", limits)));
    }
    throw new Bad(
        "an entry has \"messages\", \"conversations\" or \"prompt\"; this one has "
            + (entry.isEmpty()
                ? "nothing"
                : String.join(", ", entry.propertyNames().stream().limit(8).toList())));
  }

  /** What it takes in memory, about. */
  int size() {
    int input =
        switch (this.input) {
          case Prompt.Input.Text text -> text.text().length();
          case Prompt.Input.Messages messages ->
              messages.messages().length() + messages.tools().map(String::length).orElse(0);
        };
    return input + completion.map(String::length).orElse(0) + 128;
  }

  private static String name(JsonNode entry, int line) throws Bad {
    JsonNode name = entry.path("name");
    if (name.isMissingNode() || name.isNull()) {
      return "line-" + line;
    }
    if (!name.isString()
        || name.asString().isBlank()
        || name.asString().length() > NAME_CHARS_MAX
        || !name.asString().chars().allMatch(c -> c >= ' ' && c != 0x7f)) {
      throw new Bad("name is a text of one line and at most " + NAME_CHARS_MAX + " characters");
    }
    return name.asString();
  }

  private static int tokens(JsonNode entry, String field, DatasetLimits limits) throws Bad {
    JsonNode tokens = entry.path(field);
    if (tokens.isMissingNode() || tokens.isNull()) {
      return 0;
    }
    boolean whole = tokens.isIntegralNumber() && tokens.canConvertToInt();
    if (!whole || tokens.asInt() < 1 || tokens.asInt() > limits.tokensMax()) {
      String shown = tokens.toString();
      throw new Bad(
          "%s is a whole number from 1 to %d, not %s"
              .formatted(
                  field,
                  limits.tokensMax(),
                  shown.length() > 40 ? shown.substring(0, 40) + "…" : shown));
    }
    return tokens.asInt();
  }

  private static String messages(JsonNode messages) throws Bad {
    if (!messages.isArray() || messages.isEmpty()) {
      throw new Bad("messages is an array with at least one message");
    }
    for (int i = 0; i < messages.size(); i++) {
      JsonNode message = messages.get(i);
      String which = "message " + (i + 1) + " of " + messages.size();
      if (!message.isObject() || !message.path("role").isString()) {
        throw new Bad(which + " is no object with a role");
      }
      JsonNode content = message.path("content");
      boolean known =
          content.isString() || content.isArray() || content.isNull() || content.isMissingNode();
      if (!known) {
        throw new Bad(which + ": content is a text, an array of parts or null");
      }
    }
    return messages.toString();
  }

  private static Optional<String> tools(JsonNode entry) throws Bad {
    JsonNode tools = entry.path("tools");
    if (tools.isMissingNode() || tools.isNull()) {
      return Optional.empty();
    }
    if (!tools.isArray()) {
      throw new Bad("tools is an array");
    }
    return tools.isEmpty() ? Optional.empty() : Optional.of(tools.toString());
  }

  private static String value(JsonNode turn) throws Bad {
    JsonNode value = turn.path("value");
    if (!value.isString()) {
      throw new Bad("a turn of conversations has a text \"value\"");
    }
    return value.asString();
  }
}
