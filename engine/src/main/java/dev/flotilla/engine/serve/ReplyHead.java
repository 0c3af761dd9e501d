package dev.flotilla.engine.serve;

import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * What all objects of one reply have in common.
 *
 * @param chat whether it answers a conversation, or goes on with a text
 * @param fingerprint of the engine's build
 * @param reasoningField where thoughts are said
 * @param promptTokens of all prompts together
 */
record ReplyHead(
    boolean chat,
    String id,
    long created,
    String model,
    String fingerprint,
    String reasoningField,
    int promptTokens) {

  ObjectNode object(boolean chunk) {
    ObjectNode object = Json.object();
    object.put("id", id);
    object.put(
        "object", chat ? chunk ? "chat.completion.chunk" : "chat.completion" : "text_completion");
    object.put("created", created);
    object.put("model", model);
    object.put("system_fingerprint", fingerprint);
    return object;
  }

  ObjectNode usage(List<AnswerReader> answers) {
    int completion = 0;
    int cached = 0;
    for (AnswerReader answer : answers) {
      completion += answer.tokens();
    }
    for (AnswerReader answer : answers) {
      cached += answer.generation().follows() ? 0 : answer.generation().cached();
    }
    ObjectNode usage = Json.object();
    usage.put("prompt_tokens", promptTokens);
    usage.put("completion_tokens", completion);
    usage.put("total_tokens", promptTokens + completion);
    usage.putObject("prompt_tokens_details").put("cached_tokens", cached);
    return usage;
  }

  /** The logprobs of a choice, in the form that the reply has. */
  void logprobs(ObjectNode choice, boolean wanted, List<TokenLogprob> tokens, int offset) {
    if (!wanted || tokens.isEmpty()) {
      choice.putNull("logprobs");
    } else {
      choice.set(
          "logprobs", chat ? TokenLogprob.chat(tokens) : TokenLogprob.completion(tokens, offset));
    }
  }

  static ObjectNode choice(ArrayNode choices, int index) {
    return choices.addObject().put("index", index);
  }

  /** One call, of a stream with its index. */
  static ObjectNode call(Part.Call call) {
    ObjectNode object = Json.object();
    object.put("id", call.id());
    object.put("type", "function");
    object.putObject("function").put("name", call.name()).put("arguments", "");
    return object;
  }
}
