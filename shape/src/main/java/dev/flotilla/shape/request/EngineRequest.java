package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Sampling;
import java.util.List;
import java.util.Optional;

/**
 * Makes of a request what one engine is to get: every {@link RequestDifference} in turn says what
 * it would have otherwise. Where none has anything to say, the client's own bytes are sent.
 */
public final class EngineRequest {
  private static final List<RequestDifference> DIFFERENCES =
      List.of(
          new NullFields(),
          new SamplingDefaults(),
          new IdleFields(),
          new ForeignModels(),
          new EngineModelName(),
          new UpstreamStream(),
          new AnswersByHub(),
          new AnswerLimit(),
          new StopByHub(),
          new DeveloperRole(),
          new UnwantedTools(),
          new NamedTool(),
          new ReasoningEffort(),
          new GreedyLogprobs(),
          new OnePrompt(),
          new Prefill(),
          new KnownFields());

  private EngineRequest() {}

  /**
   * Where a request is sent.
   *
   * @param model the model's name as this server knows it
   * @param contextTokens tokens of one request, 0 where unknown
   * @param promptTokens best guess of the prompt's length
   * @param answer which of the answers is asked for, from 0
   * @param sampling how tokens are drawn where the request does not say; nothing for the engine's
   *     own way
   */
  public record Place(
      Dialect dialect,
      String model,
      int contextTokens,
      int promptTokens,
      int answer,
      Optional<Sampling> sampling) {}

  /** The body for a worker; the client's where nothing differs. */
  public static byte[] body(Asked asked, Place place) {
    BodyEdits edits = new BodyEdits(asked.scanned());
    for (RequestDifference difference : DIFFERENCES) {
      difference.edit(asked, place, edits);
    }
    return edits.apply();
  }

  /** The same request for the shortest answer, for the tokens of its prompt: never streamed. */
  public static byte[] bodyToCount(Asked asked, Place place) {
    BodyEdits edits = new BodyEdits(asked.scanned());
    for (RequestDifference difference : DIFFERENCES) {
      difference.edit(asked, place, edits);
    }
    edits.drop("stream");
    edits.drop("stream_options");
    edits.drop("max_completion_tokens");
    edits.set("max_tokens", "1");
    return edits.apply();
  }
}
