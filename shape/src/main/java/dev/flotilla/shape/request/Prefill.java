package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Feature;
import dev.flotilla.shape.request.EngineRequest.Place;

/**
 * A last message of the assistant's is to be continued, as llama-server does; vLLM closes it and
 * begins another unless it is told.
 */
final class Prefill implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    boolean said =
        asked.scanned().field("continue_final_message") != null
            || asked.scanned().field("add_generation_prompt") != null;
    if (place.dialect() == Dialect.VLLM && asked.features().contains(Feature.PREFILL) && !said) {
      edits.set("continue_final_message", "true");
      edits.set("add_generation_prompt", "false");
    }
  }
}
