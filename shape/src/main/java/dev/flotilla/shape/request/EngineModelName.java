package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.text.Json;

/**
 * The model goes by another name here. mlx-lm takes any name but {@code default_model} for a path
 * or a repository, and puts its good model away to load it.
 */
final class EngineModelName implements RequestDifference {
  private static final String MLX_LM_OWN = "default_model";

  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    String name = place.dialect() == Dialect.MLX_LM ? MLX_LM_OWN : place.model();
    if (!name.equals(asked.scanned().model())) {
      edits.set("model", Json.MAPPER.writeValueAsString(name));
    }
  }
}
