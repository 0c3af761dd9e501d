package dev.flotilla.shape.dialect;

import org.jspecify.annotations.Nullable;

/**
 * How one kind of engine speaks the OpenAI API, and what of it the engine has not. Every difference
 * was recorded from the engine itself: llama-server of llama.cpp 0.2.0, vLLM 0.32.0 mlx_lm.server
 * 0.32.2, and Flotilla's own.
 */
public enum Dialect {
  LLAMA_SERVER("llama-server"),
  VLLM("vllm"),
  /**
   * Has no grammar, no {@code n}, no {@code tool_choice}; finds stop strings on token boundaries
   * only; takes one text as prompt; leaves log-probabilities out of streams, and shows those of the
   * likeliest tokens, not of the one that was taken; dies of a bias on a token that it has not;
   * fetches images from wherever a client says.
   */
  MLX_LM("mlx-lm"),
  /**
   * Flotilla's own, whose replies are in the promised form as they come. It refuses every field
   * that it does not know.
   */
  BUILTIN("builtin"),
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
    if (feature == Feature.SEVERAL_ANSWERS || feature == Feature.SEVERAL_PROMPTS) {
      return Honour.BY_HUB;
    }
    boolean lacking =
        switch (this) {
          case LLAMA_SERVER -> lackedByLlamaServer(feature);
          case VLLM -> lackedByVllm(feature);
          case MLX_LM -> lackedByMlxLm(feature);
          case BUILTIN -> lackedByBuiltin(feature);
          case UNKNOWN -> false;
        };
    if (lacking) {
      return Honour.NOT;
    }
    return this == MLX_LM && feature == Feature.STOP_STRINGS ? Honour.BY_HUB : Honour.BY_ENGINE;
  }

  private static boolean lackedByLlamaServer(Feature feature) {
    return switch (feature) {
      case STREAMED_LOGPROBS_WITH_TOOLS,
          ECHO,
          SUFFIX,
          BEST_OF,
          STRUCTURED_OUTPUTS,
          DIMENSIONS,
          GUIDED_DECODING ->
          true;
      default -> false;
    };
  }

  private static boolean lackedByVllm(Feature feature) {
    return switch (feature) {
      case SUFFIX, BEST_OF, GBNF_GRAMMAR, GUIDED_DECODING -> true;
      default -> false;
    };
  }

  private static boolean lackedByBuiltin(Feature feature) {
    return switch (feature) {
      case EMPTY_PROMPT, ECHO, SUFFIX, BEST_OF, MEDIA, GUIDED_DECODING -> true;
      default -> false;
    };
  }

  /**
   * Whether the engine itself puts thoughts where it was told and finds the calls of every model,
   * so that nothing is looked for in its text.
   */
  public boolean placesThoughtsAndCalls() {
    return this == LLAMA_SERVER || this == BUILTIN;
  }

  private static boolean lackedByMlxLm(Feature feature) {
    return switch (feature) {
      case TOOLS, LOGPROBS, STOP_STRINGS -> false;
      default -> true;
    };
  }

  /**
   * Who sees to the feature where this engine serves under a promise. Tool calls need a parser that
   * the engine was started with, or a template that has them: but for llama-server, which parses
   * those of every model, they are there where they are promised.
   *
   * @param promise null where nothing is promised, and nothing was started
   */
  public Honour honours(Feature feature, @Nullable Promise promise) {
    boolean started = this == VLLM || this == MLX_LM;
    if (feature == Feature.TOOLS && started && promise != null && !promise.tools()) {
      return Honour.NOT;
    }
    return honours(feature);
  }
}
