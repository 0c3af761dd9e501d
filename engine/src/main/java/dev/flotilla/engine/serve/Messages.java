package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Messages of the API as chat templates want them. */
final class Messages {
  private static final Set<String> ROLES =
      Set.of("system", "developer", "user", "assistant", "tool", "function");

  private Messages() {}

  /**
   * Contents that come in parts are one text, a developer is the system, and the arguments of
   * earlier calls are the objects that they spell.
   */
  static ArrayNode forTemplate(ArrayNode messages) {
    ArrayNode told = Json.list();
    for (int i = 0; i < messages.size(); i++) {
      String place = "messages[" + i + "]";
      if (!(messages.get(i) instanceof ObjectNode message)) {
        throw RequestRefused.type(place, place + " must be an object with role and content");
      }
      JsonNode role = message.get("role");
      if (role == null) {
        throw RequestRefused.missing(place + ".role", place + " has no role, such as \"user\"");
      }
      if (!role.isString()) {
        throw RequestRefused.type(place + ".role", place + ".role must be a text");
      }
      if (!ROLES.contains(role.stringValue())) {
        throw RequestRefused.field(
            place + ".role", place + ".role must be system, developer, user, assistant or tool");
      }
      ObjectNode copy = message.deepCopy();
      if (role.stringValue().equals("developer")) {
        copy.put("role", "system");
      }
      JsonNode content = message.get("content");
      if (content instanceof ArrayNode parts) {
        copy.put("content", joined(parts, place));
      } else if (content != null && !content.isNull() && !content.isString()) {
        throw RequestRefused.type(
            place + ".content", place + ".content must be a text or a list of parts");
      } else if (content == null && !message.has("tool_calls")) {
        throw RequestRefused.missing(
            place + ".content", place + " has neither content nor tool_calls");
      }
      if (copy.get("tool_calls") instanceof ArrayNode calls) {
        calls.forEach(Messages::readArguments);
      }
      told.add(copy);
    }
    return told;
  }

  private static String joined(ArrayNode parts, String place) {
    StringBuilder text = new StringBuilder();
    for (JsonNode part : parts) {
      String type = part.path("type").asString("");
      if (!type.equals("text") || !part.path("text").isString()) {
        throw type.isEmpty() || type.equals("text")
            ? RequestRefused.field(
                place + ".content",
                place + ".content has a part that is not {\"type\":\"text\",\"text\":…}")
            : RequestRefused.notCapable(
                "messages",
                "this engine reads text alone, and %s has a part of the type %s: leave it out"
                    .formatted(place, dev.flotilla.wire.text.Names.shown(type)));
      }
      text.append(part.path("text").stringValue());
    }
    return text.toString();
  }

  /**
   * The same variables with an empty text wherever a message's content is null or not there; empty
   * where there is no such message.
   */
  static Optional<Map<String, Object>> withoutNulls(Map<String, Object> variables) {
    boolean any = false;
    List<@Nullable Object> messages = new ArrayList<>();
    if (variables.get("messages") instanceof List<?> told) {
      for (Object message : told) {
        if (message instanceof Map<?, ?> fields && fields.get("content") == null) {
          Map<Object, @Nullable Object> copy = new LinkedHashMap<>(fields);
          copy.put("content", "");
          messages.add(copy);
          any = true;
        } else {
          messages.add(message);
        }
      }
    }
    if (!any) {
      return Optional.empty();
    }
    Map<String, Object> plain = new HashMap<>(variables);
    plain.put("messages", messages);
    return Optional.of(plain);
  }

  private static void readArguments(JsonNode call) {
    if (call.path("function") instanceof ObjectNode function
        && function.path("arguments").isString()) {
      ObjectNode arguments = Json.objectIn(function.path("arguments").stringValue());
      if (arguments != null) {
        function.set("arguments", arguments);
      }
    }
  }

  static boolean isAssistants(JsonNode message) {
    return message.path("role").asString("").equals("assistant") && !message.has("tool_calls");
  }

  static String content(JsonNode message) {
    return message.path("content").asString("");
  }
}
