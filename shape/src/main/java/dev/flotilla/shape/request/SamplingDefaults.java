package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Sampling;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.openai.RequestScan.Endpoint;

/**
 * What a request leaves open about the drawing of tokens is as the name promises, whatever the
 * engine would do: mlx-lm's temperature is 0 unless something is said, llama-server's 0.8, vLLM's
 * the model folder's. What the client says is left. Where the likeliest token is taken, nothing is
 * drawn and nothing is added; a server that nobody knows keeps its ways, since it may refuse what
 * OpenAI does not have.
 */
final class SamplingDefaults implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (asked.endpoint() == Endpoint.EMBEDDINGS
        || asked.greedy()
        || place.dialect() == Dialect.UNKNOWN
        || place.sampling().isEmpty()) {
      return;
    }
    Sampling promised = place.sampling().get();
    boolean temperature = asked.value("temperature").isMissingNode();
    if (temperature) {
      edits.set("temperature", Double.toString(promised.temperature()));
    }
    if (temperature && promised.temperature() == 0) {
      return;
    }
    fill(asked, edits, "top_p", Double.toString(promised.topP()));
    fill(asked, edits, "top_k", Integer.toString(promised.topK()));
    fill(asked, edits, "min_p", Double.toString(promised.minP()));
  }

  private static void fill(Asked asked, BodyEdits edits, String field, String value) {
    if (asked.value(field).isMissingNode()) {
      edits.set(field, value);
    }
  }
}
