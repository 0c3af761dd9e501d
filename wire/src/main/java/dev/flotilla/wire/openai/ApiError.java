package dev.flotilla.wire.openai;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A refusal or failure as an API client sees it: OpenAI's error body and the HTTP status that goes
 * with it.
 *
 * @param status HTTP status
 * @param type OpenAI's class of error, such as {@code invalid_request_error}
 * @param code stable word for programs, such as {@code context_length_exceeded}
 * @param message what happened, where, and what to do; never text of an unexpected exception
 * @param param the field of the request that is at fault, or null
 * @param retryAfter for 429 and 503, how long to wait before another try; null otherwise
 */
public record ApiError(
    int status,
    String type,
    String code,
    String message,
    @Nullable String param,
    @Nullable Duration retryAfter) {

  public ApiError {
    Objects.requireNonNull(message, "message is null");
  }

  public static ApiError badRequest(String code, String message, @Nullable String param) {
    return new ApiError(400, "invalid_request_error", code, message, param, null);
  }

  public static ApiError notFound(String code, String message) {
    return new ApiError(404, "invalid_request_error", code, message, null, null);
  }

  public static ApiError unauthorized(String message) {
    return new ApiError(401, "authentication_error", "invalid_api_key", message, null, null);
  }

  public static ApiError tooManyRequests(String code, String message, Duration retryAfter) {
    return new ApiError(429, "rate_limit_error", code, message, null, retryAfter);
  }

  public static ApiError unavailable(String code, String message, Duration retryAfter) {
    return new ApiError(503, "server_error", code, message, null, retryAfter);
  }

  public static ApiError badGateway(String code, String message) {
    return new ApiError(502, "server_error", code, message, null, null);
  }
}
