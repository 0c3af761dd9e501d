package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import dev.flotilla.wire.text.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * How much the model is to think. llama-server and the built-in engine take {@code
 * reasoning_effort} themselves, {@code none} too; the others know the template's own arguments
 * only, of which {@code enable_thinking} is the one by which models can be told not to think. What
 * the client says in {@code chat_template_kwargs} goes before it.
 */
final class ReasoningEffort implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    Scanned scanned = asked.scanned();
    Field effort = scanned.field("reasoning_effort");
    boolean itself = place.dialect().placesThoughtsAndCalls() || place.dialect() == Dialect.UNKNOWN;
    if (itself || effort == null || effort.isNull()) {
      return;
    }
    JsonNode word = read(scanned, effort);
    ObjectNode arguments = Json.MAPPER.createObjectNode();
    if (word.asString("").equals("none")) {
      arguments.put("enable_thinking", false);
    } else {
      arguments.set("reasoning_effort", word);
    }
    @Nullable Field given = scanned.field("chat_template_kwargs");
    if (given != null && !given.isNull()) {
      arguments.setAll((ObjectNode) read(scanned, given));
    }
    edits.drop("reasoning_effort");
    edits.set("chat_template_kwargs", arguments.toString());
  }

  private static JsonNode read(Scanned scanned, Field field) {
    return Json.MAPPER.readTree(
        scanned.body(), field.valueFrom(), field.valueTo() - field.valueFrom());
  }
}
