package dev.flotilla.engine;

import dev.flotilla.wire.openai.ApiError;
import java.time.Duration;

/**
 * A request that the engine does not take. It was refused before any work, and concerns nobody
 * else.
 */
public final class RequestRefused extends RuntimeException {
  private final transient ApiError error;

  /** What the client is told. */
  public RequestRefused(ApiError error) {
    super(error.message());
    this.error = error;
  }

  /** A field with a value that can't be honoured: status 400. */
  public static RequestRefused field(String parameter, String message) {
    return new RequestRefused(ApiError.badRequest("invalid_value", message, parameter));
  }

  /** A field with a value of a kind that it can't have: status 400. */
  public static RequestRefused type(String parameter, String message) {
    return new RequestRefused(ApiError.badRequest("invalid_type", message, parameter));
  }

  /** A field that has to be there: status 400. */
  public static RequestRefused missing(String parameter, String message) {
    return new RequestRefused(
        ApiError.badRequest("missing_required_parameter", message, parameter));
  }

  /** Something of OpenAI's API that this engine or this model does not have: status 400. */
  public static RequestRefused notCapable(String parameter, String message) {
    return new RequestRefused(ApiError.badRequest("model_not_capable", message, parameter));
  }

  /** A field that this server does not know: status 400, never silently left out. */
  public static RequestRefused unsupported(String parameter, String message) {
    return new RequestRefused(ApiError.badRequest("unsupported_parameter", message, parameter));
  }

  /** More tokens than the context has: status 400, with both numbers in the message. */
  public static RequestRefused context(String message) {
    return context("messages", message);
  }

  /** The same of another field than the messages. */
  public static RequestRefused context(String parameter, String message) {
    return new RequestRefused(ApiError.badRequest("context_length_exceeded", message, parameter));
  }

  /** Too much to do: status 503, it may be tried again. */
  public static RequestRefused busy(String message) {
    return new RequestRefused(ApiError.unavailable("engine_busy", message, Duration.ofSeconds(1)));
  }

  /** What the client is told. */
  public ApiError error() {
    return error;
  }
}
