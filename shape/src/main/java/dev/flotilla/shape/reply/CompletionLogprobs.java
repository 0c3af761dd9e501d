package dev.flotilla.shape.reply;

import dev.flotilla.wire.text.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Log-probabilities of a completion have OpenAI's older form: a list of tokens, one of their
 * log-probabilities, one of alternatives, one of places in the text. llama-server writes those of a
 * chat. For one answer.
 */
final class CompletionLogprobs {
  private int offset;

  /** The choice's {@code logprobs} as it is to be. */
  JsonNode of(JsonNode told, ReplyForm form) {
    if (!told.has("content")) {
      return told;
    }
    ObjectNode plain = Json.MAPPER.createObjectNode();
    ArrayNode offsets = plain.putArray("text_offset");
    ArrayNode logprobs = plain.putArray("token_logprobs");
    ArrayNode tokens = plain.putArray("tokens");
    ArrayNode top = plain.putArray("top_logprobs");
    for (JsonNode token : told.path("content")) {
      String text = token.path("token").asString("");
      offsets.add(offset);
      offset += text.length();
      logprobs.add(token.path("logprob"));
      tokens.add(text);
      ObjectNode others = top.addObject();
      int count = 0;
      for (JsonNode other : token.path("top_logprobs")) {
        if (count++ < form.asked().topLogprobs()) {
          others.set(other.path("token").asString(""), other.path("logprob"));
        }
      }
    }
    return plain;
  }
}
