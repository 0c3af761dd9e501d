package dev.flotilla.testkit.scripted;

import org.jspecify.annotations.Nullable;

/**
 * The JSON of a good answer, as llama-server writes it.
 *
 * @param chat whether it answers a chat, else a completion
 * @param finishReason null where none is to be said
 */
record Replies(
    String model,
    boolean chat,
    int promptTokens,
    int completionTokens,
    @Nullable String finishReason) {

  String roleChunk() {
    return chunk("{\"role\":\"assistant\",\"content\":null}", null, "");
  }

  String chunk(String text) {
    return chat
        ? chunk("{\"content\":" + quoted(text) + "}", null, "")
        : completionChunk(text, null, "");
  }

  /**
   * The last chunk with a choice. llama-server's timings ride on the last chunk of all; that of a
   * completion tells the usage, asked or not.
   */
  String finishChunk(boolean last) {
    String timings = last ? ",\"timings\":" + timings() : "";
    return chat
        ? chunk("{}", finishReason, timings)
        : completionChunk("", finishReason, ",\"usage\":" + usage() + timings);
  }

  String usageChunk() {
    return "{\"choices\":[],"
        + common(true)
        + ",\"usage\":"
        + usage()
        + ",\"timings\":"
        + timings()
        + "}";
  }

  String whole(String text) {
    String choice =
        chat
            ? "\"message\":{\"role\":\"assistant\",\"content\":" + quoted(text) + "}"
            : "\"text\":" + quoted(text) + ",\"logprobs\":null";
    return "{\"choices\":[{\"finish_reason\":"
        + reason(finishReason)
        + ",\"index\":0,"
        + choice
        + "}],"
        + common(false)
        + ",\"usage\":"
        + usage()
        + ",\"timings\":"
        + timings()
        + "}";
  }

  private String chunk(String delta, @Nullable String reason, String more) {
    return "{\"choices\":[{\"finish_reason\":"
        + reason(reason)
        + ",\"index\":0,\"delta\":"
        + delta
        + "}],"
        + common(true)
        + more
        + "}";
  }

  private String completionChunk(String text, @Nullable String reason, String more) {
    return "{\"choices\":[{\"text\":"
        + quoted(text)
        + ",\"index\":0,\"logprobs\":null,\"finish_reason\":"
        + reason(reason)
        + "}],"
        + common(true)
        + more
        + "}";
  }

  private String common(boolean chunk) {
    String object = chat ? chunk ? "chat.completion.chunk" : "chat.completion" : "text_completion";
    return "\"created\":1767225600,\"id\":\"chatcmpl-scripted\",\"model\":"
        + quoted(model)
        + ",\"system_fingerprint\":\"scripted\",\"object\":\""
        + object
        + "\"";
  }

  private String usage() {
    return "{\"completion_tokens\":%d,\"prompt_tokens\":%d,\"total_tokens\":%d,\"prompt_tokens_details\":{\"cached_tokens\":0}}"
        .formatted(completionTokens, promptTokens, completionTokens + promptTokens);
  }

  private String timings() {
    return "{\"cache_n\":0,\"prompt_n\":%d,\"prompt_ms\":%d.5,\"predicted_n\":%d,\"predicted_ms\":%d.25}"
        .formatted(promptTokens, promptTokens, completionTokens, 10 * completionTokens);
  }

  private static String reason(@Nullable String reason) {
    return reason == null ? "null" : quoted(reason);
  }

  private static String quoted(String text) {
    return ReceivedRequest.JSON.writeValueAsString(text);
  }
}
