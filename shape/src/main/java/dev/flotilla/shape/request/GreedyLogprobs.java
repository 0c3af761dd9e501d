package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;

/**
 * mlx-lm names tokens only where it lists alternatives, and lists the likeliest ones, not the one
 * that was taken: where always the likeliest is taken, the first of one or more is that one.
 */
final class GreedyLogprobs implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() == Dialect.MLX_LM && asked.topLogprobs() == 0) {
      edits.set("top_logprobs", "1");
    }
  }
}
