package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;

/** {@code null} is the same as nothing; mlx-lm refuses a {@code temperature} of null. */
final class NullFields implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() == Dialect.MLX_LM) {
      asked.scanned().fields().stream()
          .filter(field -> field.isNull())
          .forEach(field -> edits.drop(field.name()));
    }
  }
}
