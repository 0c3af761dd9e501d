package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;

/**
 * A field that asks for what is the case anyway. vLLM refuses {@code stream_options} without a
 * stream, and a {@code tool_choice} without tools, {@code "auto"} and {@code "none"} too.
 */
final class IdleFields implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (place.dialect() == Dialect.VLLM) {
      if (!asked.streamed()) {
        edits.drop("stream_options");
      }
      if (!asked.scanned().tools()) {
        edits.drop("tools");
        edits.drop("tool_choice");
      }
    }
  }
}
