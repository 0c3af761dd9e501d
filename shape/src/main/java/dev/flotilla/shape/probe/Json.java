package dev.flotilla.shape.probe;

import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** JSON of which nobody knows who wrote it: strict, with limits. */
final class Json {
  private static final int DEPTH_MAX = 100;
  private static final int NUMBER_CHARS_MAX = 1_000;

  static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(DEPTH_MAX)
                          .maxNumberLength(NUMBER_CHARS_MAX)
                          .maxStringLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private Json() {}

  /** The document; a missing node where the text is none. */
  static JsonNode read(String text) {
    try {
      return MAPPER.readTree(text);
    } catch (JacksonException _) {
      return MAPPER.missingNode();
    }
  }
}
