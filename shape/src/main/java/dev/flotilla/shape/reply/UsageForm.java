package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.text.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What a reply cost is told in one form: the three counts, and of the prompt's tokens those that
 * were cached, where the engine says so. vLLM's {@code completion_tokens_details} counts no
 * reasoning where all of the answer was.
 */
final class UsageForm {
  private UsageForm() {}

  static @Nullable ObjectNode of(JsonNode usage, Dialect dialect) {
    if (!(usage instanceof ObjectNode told) || told.isEmpty()) {
      return null;
    }
    if (dialect == Dialect.UNKNOWN) {
      return told;
    }
    ObjectNode plain = Json.MAPPER.createObjectNode();
    for (String name : new String[] {"completion_tokens", "prompt_tokens", "total_tokens"}) {
      if (told.has(name)) {
        plain.set(name, told.get(name));
      }
    }
    JsonNode cached = told.path("prompt_tokens_details").path("cached_tokens");
    if (cached.isNumber()) {
      plain.putObject("prompt_tokens_details").set("cached_tokens", cached);
    }
    return plain;
  }

  /**
   * What several answers to one request cost together.
   *
   * @param samePrompt whether all answer the same prompt, which then counts once
   */
  static ObjectNode sum(ObjectNode first, ObjectNode more, boolean samePrompt) {
    ObjectNode sum = first.deepCopy();
    long completion =
        first.path("completion_tokens").asLong(0) + more.path("completion_tokens").asLong(0);
    long prompt =
        first.path("prompt_tokens").asLong(0)
            + (samePrompt ? 0 : more.path("prompt_tokens").asLong(0));
    sum.put("completion_tokens", completion);
    sum.put("prompt_tokens", prompt);
    sum.put("total_tokens", prompt + completion);
    if (!samePrompt && first.path("prompt_tokens_details").has("cached_tokens")) {
      ((ObjectNode) sum.get("prompt_tokens_details"))
          .put(
              "cached_tokens",
              first.path("prompt_tokens_details").path("cached_tokens").asLong(0)
                  + more.path("prompt_tokens_details").path("cached_tokens").asLong(0));
    }
    return sum;
  }
}
