package dev.flotilla.shape.dialect;

/**
 * Something that a request may ask for and that not every engine has. A client never finds out by a
 * reply that ignored it: the request goes to an engine that has it, or is refused with the
 * feature's {@link #words()}.
 */
public enum Feature {
  /** Tools that may be called. */
  TOOLS("tools", "tool calls (tools)"),
  /** A call that the client demands: {@code tool_choice} of {@code required} or a function. */
  FORCED_TOOL_CALL("tool_choice", "tool calls that must be made (tool_choice)"),
  /** {@code response_format} of {@code json_object}. */
  JSON_OBJECT("response_format", "answers that are surely JSON (response_format json_object)"),
  /** {@code response_format} of {@code json_schema}. */
  JSON_SCHEMA("response_format", "answers by a JSON schema (response_format json_schema)"),
  /** {@code logprobs} of a chat reply that comes whole. */
  LOGPROBS("logprobs", "log-probabilities (logprobs)"),
  /** {@code logprobs} of a chat reply that comes as a stream. */
  STREAMED_LOGPROBS("logprobs", "log-probabilities in a stream (logprobs with stream)"),
  /** {@code logprobs} of a stream that may hold tool calls. */
  STREAMED_LOGPROBS_WITH_TOOLS(
      "logprobs", "log-probabilities in a stream with tools (logprobs with stream and tools)"),
  /** {@code logprobs} where not always the likeliest token is taken. */
  SAMPLED_LOGPROBS(
      "logprobs", "log-probabilities of sampled tokens (logprobs with a temperature above 0)"),
  /** {@code top_logprobs} above 11. */
  MANY_LOGPROBS("top_logprobs", "more than 11 log-probabilities for each token (top_logprobs)"),
  /** {@code logprobs} of {@code /v1/completions}, a number there. */
  COMPLETION_LOGPROBS("logprobs", "log-probabilities of a completion (logprobs)"),
  /** Several answers: {@code n} above 1. */
  SEVERAL_ANSWERS("n", "several answers (n)"),
  /** {@code stop}. */
  STOP_STRINGS("stop", "stop strings (stop)"),
  /** {@code /v1/completions} with a list of prompts. */
  SEVERAL_PROMPTS("prompt", "several prompts in one request (a list as prompt)"),
  /** {@code /v1/completions} with token ids. */
  TOKEN_PROMPT("prompt", "prompts of token ids (prompt)"),
  /** {@code /v1/completions} with nothing as prompt. */
  EMPTY_PROMPT("prompt", "empty prompts (prompt)"),
  /** {@code echo} of {@code /v1/completions}. */
  ECHO("echo", "the prompt in front of the answer (echo)"),
  /** {@code suffix} of {@code /v1/completions}. */
  SUFFIX("suffix", "text after the answer (suffix)"),
  /** {@code best_of} of {@code /v1/completions}. */
  BEST_OF("best_of", "the best of several answers (best_of)"),
  /** {@code logit_bias}. */
  LOGIT_BIAS("logit_bias", "a bias on tokens (logit_bias)"),
  /** Messages with images, recordings or files. */
  MEDIA("messages", "images, audio or files in messages"),
  /** A last message of the assistant's, which the answer continues. */
  PREFILL("messages", "answers that continue an assistant's message (the last of messages)"),
  /** {@code grammar} and {@code json_schema}, as llama-server has them. */
  GBNF_GRAMMAR("grammar", "answers by a GBNF grammar (grammar, json_schema)"),
  /** vLLM's {@code structured_outputs}, and {@code response_format} of {@code structural_tag}. */
  STRUCTURED_OUTPUTS("structured_outputs", "vLLM's structured outputs (structured_outputs)"),
  /** {@code dimensions} of {@code /v1/embeddings}. */
  DIMENSIONS("dimensions", "vectors of another length (dimensions)"),
  /** vLLM's {@code guided_…}, which it ignores since it calls them otherwise. */
  GUIDED_DECODING("guided_json", "guided decoding (guided_json, guided_regex, guided_choice)");

  private final String param;
  private final String words;

  Feature(String param, String words) {
    this.param = param;
    this.words = words;
  }

  /** The request's field, as an error's {@code param} names it. */
  public String param() {
    return param;
  }

  /** What a person is told that a model has not. */
  public String words() {
    return words;
  }
}
