package dev.flotilla.hub.server;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import dev.flotilla.wire.server.HttpRefusals;
import dev.flotilla.wire.text.Names;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.http.ServerResponseHeaders;
import io.helidon.http.Status;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.ServerResponse;
import java.util.function.LongSupplier;

/** What Helidon refuses by itself, in OpenAI's form, and without words from inside. */
public final class JsonErrors {
  /** Helidon has no name for it. */
  private static final Status HEAD_TOO_LARGE =
      Status.create(431, "Request Header Fields Too Large");

  private final LongSupplier bodyBytesMax;
  private final HttpRefusals refusals;

  /**
   * @param bodyBytesMax largest request body now
   */
  JsonErrors(LongSupplier bodyBytesMax, ServerLimits limits) {
    this.bodyBytesMax = bodyBytesMax;
    this.refusals =
        new HttpRefusals("hub", ServerLimits.FIRST_LINE_BYTES_MAX, limits.headBytesMax());
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
    ClientConnection.current().send(response, ApiErrors.body(error));
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
    Status told = status.code() == 400 ? badRequest(request) : status;
    int code = told.code();
    String what = request.method() + " " + Names.shown(request.path());
    ApiError error = code == 413 ? bodyTooLarge(bodyBytesMax.getAsLong()) : refusals.of(code, what);
    if (code == 413 || code == 414 || code == 415 || code == 431 || code == 501) {
      ClientConnection.current().lingerAfterReply();
    }
    byte[] body = ApiErrors.body(error);
    boolean lengthAlone = request.method().equals(Method.HEAD_NAME);
    headers.contentLength(body.length);
    return DirectHandler.TransportResponse.builder()
        .status(told)
        .headers(headers)
        .header(HeaderValues.CONTENT_TYPE_JSON)
        .keepAlive(type.keepAlive())
        .entity(lengthAlone ? new byte[0] : body)
        .build();
  }

  /** What Helidon calls a bad request, and keeps its reason to itself. */
  private static Status badRequest(DirectHandler.TransportRequest request) {
    if (ClientConnection.current().headIsTooLarge()) {
      return HEAD_TOO_LARGE;
    }
    return HttpRefusals.isEncoded(request.headers().first(HeaderNames.CONTENT_ENCODING).orElse(""))
        ? Status.UNSUPPORTED_MEDIA_TYPE_415
        : Status.BAD_REQUEST_400;
  }
}
