package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The fields of one request, each read once and with the type that it has to have. A field that is
 * null is not there. When all is read, {@link #refuseOthers} refuses what nobody asked for: a
 * parameter that this server does not know has no effect here, and the client is told so.
 */
final class Fields {
  private final ObjectNode body;
  private final String prefix;
  private final Set<String> read = new HashSet<>();

  Fields(ObjectNode body, String prefix) {
    this.body = body;
    this.prefix = prefix;
  }

  Optional<JsonNode> any(String name) {
    read.add(name);
    JsonNode value = body.get(name);
    return value == null || value.isNull() ? Optional.empty() : Optional.of(value);
  }

  Optional<String> text(String name) {
    return any(name)
        .map(value -> {
          if (!value.isString()) {
            throw wrong(name, "a text", value);
          }
          return value.stringValue();
        });
  }

  Optional<Boolean> truth(String name) {
    return any(name)
        .map(value -> {
          if (!value.isBoolean()) {
            throw wrong(name, "true or false", value);
          }
          return value.booleanValue();
        });
  }

  boolean is(String name) {
    return truth(name).orElse(false);
  }

  OptionalDouble number(String name) {
    Optional<JsonNode> value = any(name);
    if (value.isEmpty()) {
      return OptionalDouble.empty();
    }
    if (!value.get().isNumber()) {
      throw wrong(name, "a number", value.get());
    }
    return OptionalDouble.of(value.get().doubleValue());
  }

  OptionalLong whole(String name, long from, long to) {
    Optional<JsonNode> value = any(name);
    if (value.isEmpty()) {
      return OptionalLong.empty();
    }
    JsonNode node = value.get();
    if (!node.isNumber() || node.doubleValue() % 1 != 0) {
      throw wrong(name, "a whole number", node);
    }
    boolean fits = node.canConvertToLong();
    if (!fits || node.longValue() < from || node.longValue() > to) {
      throw RequestRefused.field(
          prefix + name,
          "%s must be a whole number %s, not %s"
              .formatted(prefix + name, range(node, from, to), shown(node.asString())));
    }
    return OptionalLong.of(node.longValue());
  }

  private static String range(JsonNode number, long from, long to) {
    if (from == Long.MIN_VALUE && to == Long.MAX_VALUE) {
      return "of at most 64 bits";
    }
    if (to >= Integer.MAX_VALUE && number.doubleValue() < from) {
      return "of at least " + from;
    }
    return "from " + from + " to " + to;
  }

  int whole(String name, int from, int to, int otherwise) {
    return (int) whole(name, from, to).orElse(otherwise);
  }

  Optional<ObjectNode> object(String name) {
    return any(name)
        .map(value -> {
          if (value instanceof ObjectNode object) {
            return object;
          }
          throw wrong(name, "an object", value);
        });
  }

  Optional<ArrayNode> list(String name) {
    return any(name)
        .map(value -> {
          if (value instanceof ArrayNode list) {
            return list;
          }
          throw wrong(name, "a list", value);
        });
  }

  /** Fields that say something about a request and ask for nothing. */
  void allow(String... names) {
    read.addAll(Set.of(names));
  }

  /**
   * A field that may have only a value that changes nothing.
   *
   * @param why what of the field this engine does not have
   */
  void onlyPlain(String name, String why, String... plain) {
    any(name)
        .ifPresent(value -> {
          if (!Set.of(plain).contains(value.asString())) {
            throw RequestRefused.notCapable(
                prefix + name, why + ": leave " + prefix + name + " out");
          }
        });
  }

  void refuseOthers() {
    for (String name : body.propertyNames()) {
      JsonNode value = body.get(name);
      if (!read.contains(name) && value != null && !value.isNull()) {
        throw RequestRefused.unsupported(
            prefix + shown(name),
            prefix + shown(name) + " is not supported by this server: leave it out");
      }
    }
  }

  RequestRefused wrong(String name, String wanted, JsonNode value) {
    return RequestRefused.type(
        prefix + name, prefix + name + " must be " + wanted + ", not " + kind(value));
  }

  /** What a client made up is repeated up to a length. */
  private static String shown(String text) {
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }

  private static String kind(JsonNode value) {
    return switch (value.getNodeType()) {
      case OBJECT -> "an object";
      case ARRAY -> "a list";
      case STRING -> "a text";
      case BOOLEAN -> "a truth value";
      case NUMBER -> shown(value.asString());
      default -> "null";
    };
  }
}
