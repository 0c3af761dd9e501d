package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;
import java.util.List;

/** mlx-lm loads what {@code adapters} and {@code draft_model} name, whoever asks for it. */
final class ForeignModels implements RequestDifference {
  private static final List<String> FIELDS =
      List.of("adapters", "draft_model", "num_draft_tokens", "role_mapping");

  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() == Dialect.MLX_LM) {
      FIELDS.forEach(edits::drop);
    }
  }
}
