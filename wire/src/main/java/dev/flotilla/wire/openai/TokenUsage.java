package dev.flotilla.wire.openai;

import dev.flotilla.wire.text.Json;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/**
 * The {@code usage} object of a reply, in tokens.
 *
 * @param promptTokens all tokens of the prompt, cached ones included
 * @param completionTokens tokens generated, 0 for embeddings
 * @param cachedTokens of the prompt, those that the engine had already; -1 where it does not say
 */
public record TokenUsage(long promptTokens, long completionTokens, long cachedTokens) {

  /** Reads the object's own bytes. */
  static TokenUsage read(byte[] json, int start, int length) throws JacksonException {
    TokenUsage usual = UsageWalk.read(json, start, length);
    return usual != null ? usual : parsed(json, start, length);
  }

  private static TokenUsage parsed(byte[] json, int start, int length) throws JacksonException {
    long prompt = 0;
    long completion = 0;
    long cached = -1;
    try (JsonParser parser = Json.parser(json, start, length)) {
      parser.nextToken();
      while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
        String name = parser.currentName();
        JsonToken value = parser.nextToken();
        switch (name) {
          case "prompt_tokens" -> prompt = (long) Json.number(parser, 0);
          case "completion_tokens" -> completion = (long) Json.number(parser, 0);
          case "prompt_tokens_details" -> {
            while (value == JsonToken.START_OBJECT
                && parser.nextToken() == JsonToken.PROPERTY_NAME) {
              boolean wanted = parser.currentName().equals("cached_tokens");
              parser.nextToken();
              double number = Json.number(parser, -1);
              cached = wanted ? (long) number : cached;
            }
            parser.skipChildren();
          }
          default -> parser.skipChildren();
        }
      }
    }
    return new TokenUsage(prompt, completion, cached);
  }
}
