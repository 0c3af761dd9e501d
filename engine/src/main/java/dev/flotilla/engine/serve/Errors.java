package dev.flotilla.engine.serve;

import dev.flotilla.wire.ApiError;
import dev.flotilla.wire.ApiErrors;
import dev.flotilla.wire.Names;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpException;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;

/** Every refusal in OpenAI's form, Helidon's own included, and without words from inside. */
final class Errors {
  private static final Logger log = System.getLogger(Errors.class.getName());

  private Errors() {}

  /** Answers a request with an error; nothing may have been sent before. */
  static void send(ServerResponse response, ApiError error) {
    response.status(error.status());
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    if (error.retryAfter() != null) {
      response.header(
          HeaderNames.RETRY_AFTER, Long.toString(Math.max(1, error.retryAfter().toSeconds())));
    }
    response.send(ApiErrors.body(error));
  }

  static ApiError internal() {
    return new ApiError(
        500,
        "server_error",
        "internal_error",
        "the engine failed on this request; its log says more",
        null,
        null);
  }

  /** A handler's bug: the client is told that much, the log the rest. */
  static void bug(ServerRequest request, ServerResponse response, Throwable bug) {
    if (bug instanceof HttpException refusal) {
      throw refusal;
    }
    log.log(Level.ERROR, request.prologue().method() + " failed in the engine", bug);
    if (!response.isSent()) {
      send(response, internal());
    }
  }

  static DirectHandlers handlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, Errors::answer);
    }
    return handlers.build();
  }

  private static DirectHandler.TransportResponse answer(
      DirectHandler.TransportRequest request,
      DirectHandler.EventType type,
      Status status,
      ServerResponseHeaders headers,
      String message) {
    String what = request.method() + " " + Names.shown(request.path());
    ApiError error =
        switch (status.code()) {
          case 404 -> ApiError.notFound("not_found", what + " is not served here");
          case 405 -> invalid(405, "method_not_allowed", what + ": this path has another method");
          case 413 -> tooLarge(ServerLimits.DEFAULT.bodyBytesMax());
          case 500 -> internal();
          default ->
              invalid(status.code(), "malformed_http", "the request is not well-formed HTTP/1.1");
        };
    return DirectHandler.TransportResponse.builder()
        .status(status)
        .headers(headers)
        .header(HeaderValues.CONTENT_TYPE_JSON)
        .keepAlive(type.keepAlive())
        .entity(ApiErrors.body(error))
        .build();
  }

  static ApiError tooLarge(long bytesMax) {
    return invalid(
        413,
        "request_too_large",
        "the request's body is larger than " + bytesMax + " bytes, which is this server's limit");
  }

  private static ApiError invalid(int status, String code, String message) {
    return new ApiError(status, "invalid_request_error", code, message, null, null);
  }
}
