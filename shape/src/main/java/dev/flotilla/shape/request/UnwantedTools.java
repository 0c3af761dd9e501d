package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.Asked.ToolChoice;
import dev.flotilla.shape.request.EngineRequest.Place;

/** mlx-lm does not know {@code tool_choice}: tools that may not be called are not offered to it. */
final class UnwantedTools implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() == Dialect.MLX_LM && asked.toolChoice() == ToolChoice.NONE) {
      edits.drop("tools");
      edits.drop("tool_choice");
    }
  }
}
