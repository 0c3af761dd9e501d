package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import java.util.Set;

/**
 * A field that nobody knows passes, by the promise of every name; the built-in engine would refuse
 * the request for it, so it is left out there.
 */
final class KnownFields implements RequestDifference {
  /** Of chats and completions alike. */
  private static final Set<String> ANSWERS =
      Set.of(
          "cache_salt",
          "frequency_penalty",
          "grammar",
          "ignore_eos",
          "include_stop_str_in_output",
          "json_schema",
          "logit_bias",
          "logprobs",
          "max_completion_tokens",
          "max_tokens",
          "metadata",
          "min_p",
          "min_tokens",
          "model",
          "n",
          "presence_penalty",
          "priority",
          "prompt_cache_key",
          "repetition_penalty",
          "response_format",
          "safety_identifier",
          "seed",
          "service_tier",
          "stop",
          "stop_token_ids",
          "store",
          "stream",
          "stream_options",
          "structured_outputs",
          "temperature",
          "top_k",
          "top_p",
          "user");

  private static final Set<String> CHATS =
      Set.of(
          "add_generation_prompt",
          "chat_template_kwargs",
          "continue_final_message",
          "messages",
          "parallel_tool_calls",
          "reasoning_effort",
          "tool_choice",
          "tools",
          "top_logprobs");

  private static final Set<String> COMPLETIONS = Set.of("best_of", "echo", "prompt", "suffix");

  private static final Set<String> EMBEDDINGS =
      Set.of("dimensions", "encoding_format", "input", "model", "user");

  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() != Dialect.BUILTIN) {
      return;
    }
    Set<String> own =
        switch (asked.endpoint()) {
          case CHAT -> CHATS;
          case COMPLETIONS -> COMPLETIONS;
          case EMBEDDINGS -> EMBEDDINGS;
        };
    Set<String> shared = asked.endpoint() == Endpoint.EMBEDDINGS ? Set.of() : ANSWERS;
    asked
        .scanned()
        .fields()
        .forEach(field -> {
          if (!shared.contains(field.name()) && !own.contains(field.name())) {
            edits.drop(field.name());
          }
        });
  }
}
