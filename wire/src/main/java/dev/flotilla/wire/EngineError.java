package dev.flotilla.wire;

import java.util.Optional;

/**
 * What an engine said when it refused or failed, whatever its dialect: OpenAI's nested object,
 * vLLM's top-level one, or a bare string.
 *
 * @param message the engine's own words, at most 2,000 characters; empty where it gave none
 * @param type the engine's class of error, empty where it gave none
 * @param code the engine's code as text ({@code 400} and {@code "400"} are the same), empty where
 *     it gave none
 * @param overflow set where the prompt did not fit the engine's context
 */
@SuppressWarnings("DoNotCallSuggester")
public record EngineError(
    String message, String type, String code, Optional<ContextOverflow> overflow) {

  /**
   * A prompt longer than the context.
   *
   * @param promptTokens tokens of the prompt as the engine counted, -1 where it does not say
   * @param contextTokens tokens of context as the engine has, -1 where it does not say
   */
  public record ContextOverflow(long promptTokens, long contextTokens) {}

  /** Reads the body of a reply; what is no JSON gives an error with an empty message. */
  public static EngineError parse(byte[] body) {
    throw new UnsupportedOperationException("" + body.length);
  }
}
