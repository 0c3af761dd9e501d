package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.Asked.ToolChoice;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.text.Json;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;

/**
 * The one tool that must be called. llama-server takes a {@code tool_choice} that names a tool for
 * one that says nothing; told that some tool must be called, it sees to that. So it is offered the
 * named one alone.
 */
final class NamedTool implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() != Dialect.LLAMA_SERVER || asked.toolChoice() != ToolChoice.FORCED) {
      return;
    }
    JsonNode choice = asked.value("tool_choice");
    if (!choice.isObject()) {
      return;
    }
    String name = choice.path("function").path("name").asString("");
    ArrayNode only = Json.MAPPER.createArrayNode();
    for (JsonNode tool : asked.value("tools")) {
      if (only.isEmpty() && tool.path("function").path("name").asString("").equals(name)) {
        only.add(tool);
      }
    }
    edits.set("tools", only.toString());
    edits.set("tool_choice", "\"required\"");
    edits.set("parallel_tool_calls", "false");
  }
}
