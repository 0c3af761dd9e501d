package dev.flotilla.wire.lanes;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import dev.flotilla.wire.text.Json;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/**
 * Control messages to and from lines of JSON.
 *
 * <p>What this side does not know it ignores: a {@code type}, a field. What it does know must have
 * the right type and be there, but for numbers and truth values, which are 0 and false where an
 * older side does not send them.
 */
public final class ControlCodec {
  /** A line, its end included: 1 MiB. */
  public static final int LINE_BYTES_MAX = 1 << 20;

  private static final JsonMapper MAPPER =
      JsonMapper.builder(Json.FACTORY)
          .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)
          .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
          .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
          .withCoercionConfig(
              LogicalType.Textual,
              config ->
                  config
                      .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
                      .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
          .build();

  private static final Set<String> TYPES =
      Arrays.stream(ControlMessage.class.getAnnotation(JsonSubTypes.class).value())
          .map(JsonSubTypes.Type::name)
          .collect(Collectors.toUnmodifiableSet());

  private ControlCodec() {}

  /**
   * The message as one line, with its line end.
   *
   * @throws IllegalArgumentException if the line would be longer than {@link #LINE_BYTES_MAX}
   */
  public static byte[] encode(ControlMessage message) {
    byte[] json = MAPPER.writerFor(ControlMessage.class).writeValueAsBytes(message);
    if (json.length >= LINE_BYTES_MAX) {
      throw new IllegalArgumentException(
          "a "
              + message.getClass().getSimpleName()
              + " of "
              + json.length
              + " bytes is longer than a line of the control lane may be");
    }
    byte[] line = Arrays.copyOf(json, json.length + 1);
    line[json.length] = '\n';
    return line;
  }

  /**
   * The message of one line, without its line end; empty where its {@code type} is not known here.
   *
   * @throws LaneMalformed if the line is no message: too long, no JSON object, no {@code type}, a
   *     field of the wrong type or missing; the text names the field and never its value
   */
  public static Optional<ControlMessage> decode(byte[] line) throws IOException {
    if (line.length >= LINE_BYTES_MAX) {
      throw new LaneMalformed(
          "a line of the control lane is longer than " + LINE_BYTES_MAX + " bytes");
    }
    JsonNode tree = tree(line);
    JsonNode type = tree.get("type");
    if (type == null || !type.isString()) {
      throw new LaneMalformed("a control message is not an object with a type");
    }
    if (!TYPES.contains(type.stringValue())) {
      return Optional.empty();
    }
    ControlMessage message;
    try {
      message = MAPPER.treeToValue(tree, ControlMessage.class);
    } catch (JacksonException e) {
      throw new LaneMalformed("a control message has a field of the wrong type: " + path(e));
    }
    String missing = missing(message, type.stringValue());
    if (missing != null) {
      throw new LaneMalformed("a control message has no " + missing);
    }
    return Optional.of(message);
  }

  private static JsonNode tree(byte[] line) throws LaneMalformed {
    try {
      return MAPPER.readTree(line);
    } catch (JacksonException _) {
      throw new LaneMalformed("a line of the control lane is not JSON");
    }
  }

  private static String path(JacksonException e) {
    return e.getPath().stream()
        .map(step -> step.getPropertyName() == null ? "[]" : step.getPropertyName())
        .collect(Collectors.joining("."));
  }

  /** The path of the first thing that is null and must not be; null where all is there. */
  private static @Nullable String missing(@Nullable Object value, String path) {
    return switch (value) {
      case null -> path;
      case Record object -> missingComponent(object, path);
      case Collection<?> list ->
          list.stream()
              .map(element -> Optional.ofNullable(missing(element, path + "[]")))
              .flatMap(Optional::stream)
              .findFirst()
              .orElse(null);
      case Map<?, ?> map -> missing(map.values(), path);
      default -> null;
    };
  }

  private static @Nullable String missingComponent(Record object, String path) {
    for (RecordComponent component : object.getClass().getRecordComponents()) {
      Object value;
      try {
        value = component.getAccessor().invoke(object);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("a message's field can't be read", e);
      }
      boolean nullable = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
      if (value != null || !nullable) {
        String missing = missing(value, path + "." + component.getName());
        if (missing != null) {
          return missing;
        }
      }
    }
    return null;
  }
}
