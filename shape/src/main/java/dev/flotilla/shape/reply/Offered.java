package dev.flotilla.shape.reply;

import dev.flotilla.shape.request.Asked;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** The tools that a request offers: their names, and the types of their parameters. */
final class Offered {
  private final Map<String, JsonNode> parameters = new HashMap<>();

  Offered(Asked asked) {
    for (JsonNode tool : asked.value("tools")) {
      JsonNode function = tool.path("function");
      parameters.put(
          function.path("name").asString(""), function.path("parameters").path("properties"));
    }
  }

  Set<String> names() {
    return parameters.keySet();
  }

  /** Whether the parameter is a text, or may be one. */
  boolean isText(String tool, String parameter) {
    JsonNode type =
        parameters.getOrDefault(tool, MissingNode.getInstance()).path(parameter).path("type");
    if (type.isArray()) {
      for (JsonNode each : type) {
        if (each.asString("").equals("string")) {
          return true;
        }
      }
      return false;
    }
    return type.isMissingNode() || type.asString("").equals("string");
  }

  /** Whether nothing is said of the parameter's type. */
  boolean isUntyped(String tool, String parameter) {
    return parameters
        .getOrDefault(tool, MissingNode.getInstance())
        .path(parameter)
        .path("type")
        .isMissingNode();
  }
}
