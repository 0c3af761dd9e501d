package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Dialect;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * What an engine says for itself, and others don't: llama-server's {@code timings}; vLLM's {@code
 * stop_reason}, {@code token_ids}, {@code metrics} and so on, most of them null. It is left out,
 * unless the request asks for it by name. A field of any other name passes; from vLLM only where it
 * holds something. Of a server that nobody said what it is, everything passes.
 */
final class Extras {
  private static final Set<String> OWN =
      Set.of(
          "timings",
          "__verbose",
          "prompt_progress",
          "stop_reason",
          "token_ids",
          "routed_experts",
          "prompt_token_ids",
          "prompt_text",
          "prompt_logprobs",
          "kv_transfer_params",
          "ec_transfer_params",
          "metrics",
          "generation_settings");

  /** OpenAI's own, which say nothing where they are null or empty. */
  private static final Set<String> IDLE =
      Set.of(
          "refusal",
          "annotations",
          "audio",
          "function_call",
          "service_tier",
          "tool_calls",
          "reasoning",
          "reasoning_content",
          "logprobs",
          "usage");

  private final ReplyForm form;

  Extras(ReplyForm form) {
    this.form = form;
  }

  /** Whether the field stays. */
  boolean keeps(Map.Entry<String, JsonNode> field) {
    JsonNode value = field.getValue();
    if (form.dialect() == Dialect.UNKNOWN) {
      return true;
    }
    if (OWN.contains(field.getKey())) {
      return form.asked().keptExtras().contains(field.getKey()) && !value.isNull();
    }
    boolean empty = value.isNull() || (value.isArray() && value.isEmpty());
    return !empty || (!IDLE.contains(field.getKey()) && form.dialect() != Dialect.VLLM);
  }
}
