package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import java.util.Set;
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
        throw RequestRefused.field(place, place + " must be an object");
      }
      JsonNode role = message.get("role");
      if (role == null || !role.isString() || !ROLES.contains(role.stringValue())) {
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
        throw RequestRefused.field(place + ".content", place + ".content must be a text or parts");
      } else if (content == null && !message.has("tool_calls")) {
        throw RequestRefused.field(place + ".content", place + ".content is missing");
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
        throw RequestRefused.unsupported(
            place + ".content",
            type.isEmpty() || type.equals("text")
                ? place + ".content has a part without a text"
                : "the model reads text alone, and " + place + " has a part of type " + type);
      }
      text.append(part.path("text").stringValue());
    }
    return text.toString();
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
