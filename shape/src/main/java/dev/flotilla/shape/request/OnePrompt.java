package dev.flotilla.shape.request;

import dev.flotilla.shape.request.EngineRequest.Place;
import tools.jackson.databind.JsonNode;

/**
 * Of several prompts each is a request of its own. llama-server counts the tokens of the first one
 * only; a list kills mlx-lm, one of a single text too.
 */
final class OnePrompt implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (asked.prompts() > 0) {
      JsonNode list = asked.value("prompt");
      edits.set("prompt", list.get(place.answer() % asked.prompts()).toString());
    }
  }
}
