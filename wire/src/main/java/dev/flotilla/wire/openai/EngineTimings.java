package dev.flotilla.wire.openai;

import dev.flotilla.wire.text.Json;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * llama-server's {@code timings}: what the engine itself measured of one reply. A number that is
 * absent is 0.
 *
 * @param promptTokens prompt tokens that were computed, cached ones not included
 * @param promptMillis time for them
 * @param predictedTokens tokens generated
 * @param predictedMillis time for them
 * @param cachedTokens prompt tokens that were taken from the cache
 */
public record EngineTimings(
    long promptTokens,
    double promptMillis,
    long predictedTokens,
    double predictedMillis,
    long cachedTokens) {

  /** Reads the object's own bytes. */
  static EngineTimings read(byte[] json, int start, int length) throws JacksonException {
    double promptTokens = 0;
    double promptMillis = 0;
    double predictedTokens = 0;
    double predictedMillis = 0;
    double cachedTokens = 0;
    try (JsonParser parser = Json.parser(json, start, length)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        double number = Json.number(parser, 0);
        switch (name) {
          case "prompt_n" -> promptTokens = number;
          case "prompt_ms" -> promptMillis = number;
          case "predicted_n" -> predictedTokens = number;
          case "predicted_ms" -> predictedMillis = number;
          case "cache_n" -> cachedTokens = number;
          default -> {}
        }
      }
    }
    return new EngineTimings(
        (long) promptTokens,
        promptMillis,
        (long) predictedTokens,
        predictedMillis,
        (long) cachedTokens);
  }
}
