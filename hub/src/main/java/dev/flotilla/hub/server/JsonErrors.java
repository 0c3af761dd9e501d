package dev.flotilla.hub.server;

import dev.flotilla.wire.ApiError;
import dev.flotilla.wire.ApiErrors;
import dev.flotilla.wire.Names;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.ServerResponse;
import java.util.function.LongSupplier;

/** What Helidon refuses by itself, in OpenAI's form, and without words from inside. */
public final class JsonErrors {
  private final LongSupplier bodyBytesMax;
  private final ServerLimits limits;

  /**
   * @param bodyBytesMax largest request body now
   */
  JsonErrors(LongSupplier bodyBytesMax, ServerLimits limits) {
    this.bodyBytesMax = bodyBytesMax;
    this.limits = limits;
  }

  /** The refusal of a body that is larger than the configuration allows. */
  public static ApiError bodyTooLarge(long bytesMax) {
    return new ApiError(
        413,
        "invalid_request_error",
        "request_too_large",
        "the request's body is larger than "
            + bytesMax
            + " bytes, which is this hub's limit (limits.request-body in fleet.yaml)",
        null,
        null);
  }

  /** Answers a request with an error; nothing may have been sent before. */
  public static void send(ServerResponse response, ApiError error) {
    response.status(error.status());
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    if (error.retryAfter() != null) {
      response.header(
          HeaderNames.RETRY_AFTER, Long.toString(Math.max(1, error.retryAfter().toSeconds())));
    }
    response.send(ApiErrors.body(error));
  }

  DirectHandlers handlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, this::answer);
    }
    return handlers.build();
  }

  private DirectHandler.TransportResponse answer(
      DirectHandler.TransportRequest request,
      DirectHandler.EventType type,
      Status status,
      ServerResponseHeaders headers,
      String message) {
    // Helidon calls this a bad request, and keeps its reason to itself.
    int code =
        status.code() == 400 && ClientConnection.current().headIsTooLarge() ? 431 : status.code();
    String what = request.method() + " " + Names.shown(request.path());
    if (code == 413 || code == 414 || code == 431) {
      ClientConnection.current().lingerAfterReply();
    }
    return DirectHandler.TransportResponse.builder()
        .status(code == status.code() ? status : Status.create(code))
        .headers(headers)
        .header(HeaderValues.CONTENT_TYPE_JSON)
        .keepAlive(type.keepAlive())
        .entity(ApiErrors.body(error(code, what)))
        .build();
  }

  private ApiError error(int status, String what) {
    return switch (status) {
      case 404 -> ApiError.notFound("not_found", what + " is not served here");
      case 405 ->
          new ApiError(
              405,
              "invalid_request_error",
              "method_not_allowed",
              what + ": this path has another method",
              null,
              null);
      case 413 -> bodyTooLarge(bodyBytesMax.getAsLong());
      case 414 ->
          new ApiError(
              414,
              "invalid_request_error",
              "uri_too_long",
              "the request's first line is longer than "
                  + ServerLimits.FIRST_LINE_BYTES_MAX
                  + " bytes, which is this hub's limit",
              null,
              null);
      case 431 ->
          new ApiError(
              431,
              "invalid_request_error",
              "headers_too_large",
              "the request's headers are larger than "
                  + limits.headBytesMax()
                  + " bytes, which is this hub's limit",
              null,
              null);
      case 500 ->
          new ApiError(
              500,
              "server_error",
              "internal_error",
              "the hub failed on this request; its log says more",
              null,
              null);
      case 503 ->
          new ApiError(
              503,
              "server_error",
              "too_many_requests",
              "the hub has too many requests at once",
              null,
              null);
      case 505 ->
          new ApiError(
              505,
              "invalid_request_error",
              "http_version_not_supported",
              "the hub speaks HTTP/1.1",
              null,
              null);
      default ->
          new ApiError(
              status,
              "invalid_request_error",
              "malformed_http",
              "the request is not well-formed HTTP/1.1",
              null,
              null);
    };
  }
}
