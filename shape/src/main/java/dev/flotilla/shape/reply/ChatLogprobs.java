package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.text.Json;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Log-probabilities have OpenAI's form: for each token its text, its bytes, its log-probability,
 * and as many alternatives as were asked for. llama-server adds ids and lists 20 alternatives where
 * none were asked for in a stream; mlx-lm writes tokens as its vocabulary does ({@code Ġglad}),
 * without bytes and in no order, and says which token was taken only by that it was the likeliest.
 */
final class ChatLogprobs {
  private ChatLogprobs() {}

  /** The choice's {@code logprobs} as it is to be. */
  static ObjectNode of(JsonNode told, ReplyForm form) {
    ObjectNode plain = Json.MAPPER.createObjectNode();
    ArrayNode content = plain.putArray("content");
    for (JsonNode token : told.path("content")) {
      content.add(token(token, form));
    }
    return plain;
  }

  private static ObjectNode token(JsonNode told, ReplyForm form) {
    List<JsonNode> others = new ArrayList<>();
    told.path("top_logprobs").forEach(others::add);
    JsonNode taken = told;
    if (form.dialect() == Dialect.MLX_LM) {
      others.sort(
          Comparator.comparingDouble((JsonNode each) -> each.path("logprob").asDouble(0))
              .reversed());
      taken = others.isEmpty() ? told : others.getFirst();
    }
    ObjectNode plain = entry(taken, form);
    ArrayNode top = plain.putArray("top_logprobs");
    others.stream()
        .limit(Math.max(0, form.asked().topLogprobs()))
        .forEach(each -> top.add(entry(each, form)));
    return plain;
  }

  private static ObjectNode entry(JsonNode told, ReplyForm form) {
    ObjectNode entry = Json.MAPPER.createObjectNode();
    String text = told.path("token").asString("");
    if (form.dialect() == Dialect.MLX_LM) {
      VocabularyText.put(entry, text);
    } else {
      entry.put("token", text);
      entry.set("bytes", told.has("bytes") ? told.get("bytes") : NullNode.getInstance());
    }
    entry.set("logprob", told.path("logprob"));
    return entry;
  }
}
