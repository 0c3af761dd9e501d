package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import dev.flotilla.wire.openai.ApiError;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** How requests are read, with limits on depth and on the length of names and numbers. */
final class Json {
  /** Objects and lists within each other. */
  static final int DEPTH_MAX = 100;

  private static final int NAME_CHARS_MAX = 50_000;
  private static final int NUMBER_CHARS_MAX = 1_000;

  /** Values, names and brackets of one body: each becomes an object of some ten bytes or more. */
  private static final long PIECES_MAX = 1_000_000;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .disable(TokenStreamFactory.Feature.CHARSET_DETECTION)
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(DEPTH_MAX)
                          .maxTokenCount(PIECES_MAX)
                          .maxNameLength(NAME_CHARS_MAX)
                          .maxNumberLength(NUMBER_CHARS_MAX)
                          .maxStringLength(Integer.MAX_VALUE)
                          .build())
                  .build())
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  static ArrayNode list() {
    return MAPPER.createArrayNode();
  }

  static byte[] bytes(JsonNode node) {
    return MAPPER.writeValueAsBytes(node);
  }

  static String text(JsonNode node) {
    return MAPPER.writeValueAsString(node);
  }

  /** A text as JSON has it. */
  static String quoted(String text) {
    return MAPPER.writeValueAsString(text);
  }

  /** A request's body. */
  static ObjectNode body(byte[] bytes) {
    JsonNode node;
    try {
      node = MAPPER.readTree(bytes);
    } catch (StreamConstraintsException large) {
      throw wrong(
          "the request's body has more than %d values, names and brackets, nests deeper than %d"
                  .formatted(PIECES_MAX, DEPTH_MAX)
              + " levels, or has a name longer than %d or a number longer than %d characters"
                  .formatted(NAME_CHARS_MAX, NUMBER_CHARS_MAX));
    } catch (JacksonException malformed) {
      throw wrong("the request's body is not JSON: " + malformed.getOriginalMessage());
    }
    if (node instanceof ObjectNode object) {
      return object;
    }
    throw wrong("the request's body must be one JSON object");
  }

  private static RequestRefused wrong(String message) {
    return new RequestRefused(ApiError.badRequest("invalid_json", message, null));
  }

  /** A text that should be an object; null where it is not. */
  static @Nullable ObjectNode objectIn(String text) {
    try {
      return MAPPER.readTree(text) instanceof ObjectNode object ? object : null;
    } catch (JacksonException malformed) {
      return null;
    }
  }

  /** A JSON value, or where the text is none, the text. */
  static JsonNode valueOrText(String text) {
    try {
      return text.isBlank() ? MAPPER.getNodeFactory().stringNode(text) : MAPPER.readTree(text);
    } catch (JacksonException noJson) {
      return MAPPER.getNodeFactory().stringNode(text);
    }
  }

  /** The value as chat templates know it: maps, lists, texts, numbers, truth values, null. */
  static @Nullable Object plain(JsonNode node) {
    return switch (node.getNodeType()) {
      case OBJECT -> {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> field : node.properties()) {
          map.put(field.getKey(), plain(field.getValue()));
        }
        yield map;
      }
      case ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        for (JsonNode each : node) {
          list.add(plain(each));
        }
        yield list;
      }
      case STRING -> node.stringValue();
      case BOOLEAN -> node.booleanValue();
      case NUMBER ->
          node.isIntegralNumber() && node.canConvertToLong()
              ? (Object) node.longValue()
              : (Object) node.doubleValue();
      default -> null;
    };
  }
}
