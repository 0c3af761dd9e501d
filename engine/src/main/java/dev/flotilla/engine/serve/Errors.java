package dev.flotilla.engine.serve;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import dev.flotilla.wire.server.HttpRefusals;
import dev.flotilla.wire.text.Names;
import io.helidon.http.DirectHandler;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpException;
import io.helidon.http.Method;
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

  /** Helidon has no name for it. */
  private static final Status HEAD_TOO_LARGE =
      Status.create(431, "Request Header Fields Too Large");

  private static final HttpRefusals REFUSALS =
      new HttpRefusals(
          "server", ServerLimits.FIRST_LINE_BYTES_MAX, ServerLimits.DEFAULT.headBytesMax());

  private Errors() {}

  /**
   * Answers a request with an error; nothing may have been sent before. Where its body was not read
   * the connection closes, when the client has had the time to see why.
   */
  static void send(ServerResponse response, ApiError error) {
    WatchedConnection client = WatchedConnection.current();
    if (client.bodyUnread()) {
      response.header(HeaderValues.CONNECTION_CLOSE);
      client.lingerAfterReply();
    }
    if (error.status() == 401) {
      response.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
    }
    response.status(error.status());
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    if (error.retryAfter() != null) {
      response.header(
          HeaderNames.RETRY_AFTER, Long.toString(Math.max(1, error.retryAfter().toSeconds())));
    }
    client.send(response, ApiErrors.body(error));
  }

  /** A handler's bug: the client is told that much, the log the rest. */
  static void bug(ServerRequest request, ServerResponse response, Throwable bug) {
    if (bug instanceof HttpException refusal) {
      throw refusal;
    }
    String what = request.prologue().method() + " " + Names.shown(request.path().path());
    log.log(Level.ERROR, what + " failed in the engine", bug);
    if (!response.isSent()) {
      send(response, REFUSALS.internal());
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
    Status told = status.code() == 400 ? badRequest(request) : status;
    int code = told.code();
    String what = request.method() + " " + Names.shown(request.path());
    ApiError error =
        code == 413 ? tooLarge(ServerLimits.DEFAULT.bodyBytesMax()) : REFUSALS.of(code, what);
    if (code == 413 || code == 414 || code == 415 || code == 431 || code == 501) {
      WatchedConnection.current().lingerAfterReply();
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
    if (WatchedConnection.current().headIsTooLarge()) {
      return HEAD_TOO_LARGE;
    }
    return HttpRefusals.isEncoded(request.headers().first(HeaderNames.CONTENT_ENCODING).orElse(""))
        ? Status.UNSUPPORTED_MEDIA_TYPE_415
        : Status.BAD_REQUEST_400;
  }

  /** A path that is there is called by another method than those that it has. */
  static void otherMethod(ServerResponse response, String allowed) {
    response.header(HeaderNames.ALLOW, allowed);
    send(response, HttpRefusals.otherMethod(allowed));
  }

  static ApiError tooLarge(long bytesMax) {
    return new ApiError(
        413,
        "invalid_request_error",
        "request_too_large",
        "the request's body is larger than " + bytesMax + " bytes, which is this server's limit",
        null,
        null);
  }
}
