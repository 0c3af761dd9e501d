package dev.flotilla.hub.gateway;

import dev.flotilla.hub.gateway.AttemptFailed.Blame;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.EngineError;
import dev.flotilla.wire.openai.EngineError.ContextOverflow;
import java.time.Duration;
import java.util.List;

/**
 * What an engine's error means: the client's mistake, a prompt that is too long, or a failure of
 * the target.
 */
sealed interface EngineReply {

  /**
   * How llama-server begins when it answers 500 to a request that it could not read, or that asks
   * for what the model has not: no failure, and another worker would say the same.
   */
  List<String> UNREADABLE =
      List.of(
          "Failed to parse messages: ",
          "Failed to parse tools: ",
          "image input is not supported",
          "audio input is not supported",
          "Unknown reasoning format: ");

  /** mlx-lm has this and whatever a request's template threw in one status, 404. */
  String MLX_LM_DEAD = "generation thread died";

  /** The client is told, with the engine's words. */
  record ClientsMistake(ApiError error) implements EngineReply {}

  /** The prompt does not fit this target. */
  record TooLong(ContextOverflow overflow) implements EngineReply {}

  /** Another target may do better. */
  record Failure(AttemptFailed failed) implements EngineReply {}

  /**
   * Reads the meaning.
   *
   * @param status the HTTP status, or 500 for an error that came with a 200
   */
  static EngineReply of(int status, EngineError error, Target at) {
    String target = at.name();
    if (error.overflow().isPresent()) {
      return new TooLong(error.overflow().get());
    }
    String said = error.message().isEmpty() ? "" : ": " + error.message();
    String reason = "answered " + status + said;
    return switch (status) {
      case 401, 403 ->
          failure(
              reason,
              Blame.TARGET,
              ApiError.badGateway(
                  "upstream_refused_hub", target + " refuses the hub's own key (" + status + ")"));
      case 404 ->
          at.dialect() == Dialect.MLX_LM && !error.message().startsWith(MLX_LM_DEAD)
              ? unreadable(reason, error)
              : failure(
                  reason,
                  Blame.TARGET,
                  ApiError.badGateway("upstream_not_found", target + " " + reason));
      case 405, 501 ->
          failure(
              reason,
              Blame.NOBODY,
              ApiError.badRequest("not_supported", target + " can't do this" + said, null));
      case 408, 429, 503 ->
          failure(
              reason,
              Blame.TARGET,
              ApiError.unavailable(
                  "upstream_unavailable", target + " " + reason, Duration.ofSeconds(5)));
      default -> {
        if (status >= 500 && UNREADABLE.stream().anyMatch(error.message()::startsWith)) {
          yield new ClientsMistake(ApiError.badRequest("invalid_request", error.message(), null));
        }
        if (status >= 400 && status < 500) {
          yield new ClientsMistake(clientsMistake(status, error));
        }
        yield failure(
            reason,
            status >= 500 ? Blame.DOUBTFUL : Blame.TARGET,
            ApiError.badGateway("upstream_failed", target + " " + reason));
      }
    };
  }

  /** Whether request or target is to blame shows when another target has tried it. */
  private static Failure unreadable(String reason, EngineError error) {
    return failure(
        reason, Blame.DOUBTFUL, ApiError.badRequest("invalid_request", error.message(), null));
  }

  private static Failure failure(String reason, Blame blame, ApiError error) {
    return new Failure(AttemptFailed.answered(reason, blame, error));
  }

  private static ApiError clientsMistake(int status, EngineError error) {
    return new ApiError(
        status,
        "invalid_request_error",
        error.code().isEmpty() || error.code().equals(Integer.toString(status))
            ? "invalid_request"
            : error.code(),
        error.message().isEmpty()
            ? "the engine refused the request with status " + status
            : error.message(),
        error.param().isEmpty() ? null : error.param(),
        null);
  }
}
