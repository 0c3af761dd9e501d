package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;

/**
 * Several answers are several requests for one. llama-server gives as many as it has slots at most,
 * vLLM one where the likeliest tokens are taken, mlx-lm always one.
 */
final class AnswersByHub implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (asked.answers() > 1 || place.dialect() == Dialect.MLX_LM) {
      edits.drop("n");
    }
  }
}
