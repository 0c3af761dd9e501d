package dev.flotilla.engine.serve;

import java.util.Optional;

/**
 * How a model writes the calls of tools. Which one it is its chat template tells, which writes
 * earlier calls in the same way.
 */
enum CallFormat {
  /** {@code <tool_call>{"name": …, "arguments": {…}}</tool_call>}, several times: Hermes, Qwen. */
  HERMES("<tool_call>", "</tool_call>"),
  /**
   * {@code [TOOL_CALLS][{"name": …, "arguments": {…}}, …]}, or {@code [TOOL_CALLS]name[ARGS]{…}}.
   */
  MISTRAL("[TOOL_CALLS]", ""),
  /** The whole answer is {@code {"name": …, "parameters": {…}}}, maybe after a mark: Llama 3. */
  LLAMA("<|python_tag|>", ""),
  /** {@code <start_function_call>call:name{…}<end_function_call>}: Gemma. */
  GEMMA("<start_function_call>", "<end_function_call>");

  private final String begin;
  private final String end;

  CallFormat(String begin, String end) {
    this.begin = begin;
    this.end = end;
  }

  /** The text that begins a call. */
  String begin() {
    return begin;
  }

  /** The text that ends one call; empty where calls end with the answer. */
  String end() {
    return end;
  }

  /** Reads what stands behind {@link #begin}. */
  CallReader reader(CallSink sink) {
    return switch (this) {
      case HERMES -> new HermesCall(sink);
      case MISTRAL -> new MistralCalls(sink);
      case LLAMA -> new JsonCalls(end, sink);
      case GEMMA -> new GemmaCall(sink);
    };
  }

  /** The format that a template speaks of. */
  static Optional<CallFormat> of(String template) {
    for (CallFormat format : values()) {
      if (template.contains(format.begin)) {
        return Optional.of(format);
      }
    }
    // Llama 3.2's template writes calls without the mark.
    return template.contains("\"parameters\": ") && template.contains("<|start_header_id|>")
        ? Optional.of(LLAMA)
        : Optional.empty();
  }
}
