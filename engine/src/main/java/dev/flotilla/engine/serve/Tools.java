package dev.flotilla.engine.serve;

import dev.flotilla.engine.RequestRefused;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The tools of a request, and whether one may or has to be called, or several.
 *
 * @param offered the tools that the model is told of; empty where it may call none
 * @param forced whether a call has to be made
 * @param parallel whether an answer may have several calls; where the request doesn't say, a model
 *     that is free to call makes as many as it does, one that has to makes one
 */
record Tools(Optional<ArrayNode> offered, boolean forced, Optional<Boolean> parallel) {
  /** No tools. */
  static final Tools NONE = new Tools(Optional.empty(), false, Optional.empty());

  /** Tools of one request. */
  static final int MAX = 256;

  static Tools read(Fields fields) {
    Optional<ArrayNode> tools = fields.list("tools").filter(each -> !each.isEmpty());
    Optional<JsonNode> choice = fields.any("tool_choice");
    Optional<Boolean> parallel = fields.truth("parallel_tool_calls");
    Set<String> names = new HashSet<>();
    tools.ifPresent(list -> check(list, names));
    if (choice.isEmpty()) {
      return new Tools(tools, false, parallel);
    }
    JsonNode wanted = choice.get();
    String word = wanted.isString() ? wanted.stringValue() : "";
    if (word.equals("none")) {
      return NONE;
    }
    if (word.equals("auto")) {
      return new Tools(tools, false, parallel);
    }
    if (tools.isEmpty()) {
      throw RequestRefused.field("tool_choice", "tool_choice needs tools to choose from");
    }
    if (word.equals("required")) {
      return new Tools(tools, true, parallel);
    }
    String name = wanted.path("function").path("name").asString("");
    if (!names.contains(name)) {
      throw RequestRefused.field(
          "tool_choice",
          "tool_choice must be auto, none, required, or one of the functions in tools");
    }
    ArrayNode one = Json.list();
    for (JsonNode tool : tools.get()) {
      if (tool.path("function").path("name").asString("").equals(name)) {
        one.add(tool);
      }
    }
    return new Tools(Optional.of(one), true, parallel);
  }

  /** Whether an answer ends with its first call. */
  boolean oneCall() {
    return !parallel.orElse(true);
  }

  /** Whether a model that has to call may go on with more calls. */
  boolean forcesSeveral() {
    return parallel.orElse(false);
  }

  private static void check(ArrayNode tools, Set<String> names) {
    if (tools.size() > MAX) {
      throw RequestRefused.field(
          "tools", "tools has %d tools; at most %d are allowed".formatted(tools.size(), MAX));
    }
    for (int i = 0; i < tools.size(); i++) {
      JsonNode tool = tools.get(i);
      JsonNode function = tool.path("function");
      if (!(function instanceof ObjectNode) || function.path("name").asString("").isEmpty()) {
        throw RequestRefused.field(
            "tools[" + i + "]", "tools[" + i + "].function must be an object with a name");
      }
      names.add(function.path("name").asString(""));
    }
  }
}
