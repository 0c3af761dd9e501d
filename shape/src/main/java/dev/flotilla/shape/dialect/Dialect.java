package dev.flotilla.shape.dialect;

import java.util.Set;

/**
 * How one kind of engine speaks the OpenAI API, and what of it the engine has not. Every difference
 * was recorded from the engine itself: llama-server of llama.cpp 0.2.0, vLLM 0.32.0 and
 * mlx_lm.server 0.32.2.
 */
public enum Dialect {
  LLAMA_SERVER("llama-server"),
  VLLM("vllm"),
  /**
   * Has no grammar, no {@code n}, no {@code tool_choice}; finds stop strings on token boundaries
   * only; takes one text as prompt; leaves log-probabilities out of streams.
   */
  MLX_LM("mlx-lm"),
  /** A server that nobody said what it is: it is believed to have everything. */
  UNKNOWN("");

  private final String engine;

  Dialect(String engine) {
    this.engine = engine;
  }

  /**
   * The dialect of an engine.
   *
   * @param engine the engine's word in {@code fleet.yaml}, or {@code backend}
   */
  public static Dialect of(String engine) {
    for (Dialect dialect : values()) {
      if (!dialect.engine.isEmpty() && dialect.engine.equals(engine)) {
        return dialect;
      }
    }
    return UNKNOWN;
  }

  /** Who sees to the feature where this engine serves. */
  public Honour honours(Feature feature) {
    return this == MLX_LM ? byMlxLm(feature) : Honour.BY_ENGINE;
  }

  private static Honour byMlxLm(Feature feature) {
    return switch (feature) {
      case FORCED_TOOL_CALL,
          JSON_OBJECT,
          JSON_SCHEMA,
          STREAMED_LOGPROBS,
          COMPLETION_LOGPROBS,
          SEVERAL_PROMPTS,
          TOKEN_PROMPT,
          ECHO,
          SUFFIX,
          BEST_OF ->
          Honour.NOT;
      case SEVERAL_ANSWERS, STOP_STRINGS -> Honour.BY_HUB;
      case LOGPROBS -> Honour.BY_ENGINE;
    };
  }

  /** Whether a request that asks for all of these has them all where this engine serves. */
  public boolean honoursAll(Set<Feature> features) {
    for (Feature feature : features) {
      if (honours(feature) == Honour.NOT) {
        return false;
      }
    }
    return true;
  }
}
