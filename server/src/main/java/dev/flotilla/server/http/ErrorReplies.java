package dev.flotilla.server.http;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
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
public final class ErrorReplies {
  private static final Logger log = System.getLogger(ErrorReplies.class.getName());

  /** Helidon has no name for it. */
  private static final Status HEAD_TOO_LARGE =
      Status.create(431, "Request Header Fields Too Large");

  private final ServerWords words;
  private final HttpRefusals refusals;

  ErrorReplies(ServerWords words, ServerLimits limits) {
    this.words = words;
    this.refusals =
        new HttpRefusals(words.name(), ServerLimits.FIRST_LINE_BYTES_MAX, limits.headBytesMax());
  }

  /**
   * Answers a request with an error; nothing may have been sent before. Where its body was not read
   * the connection closes, when the client has had the time to see why.
   */
  public static void send(ServerResponse response, ApiError error) {
    ClientConnection client = ClientConnection.current();
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

  /** A path that is there is called by another method than those that it has. */
  public static void otherMethod(ServerResponse response, String allowed) {
    response.header(HeaderNames.ALLOW, allowed);
    send(response, HttpRefusals.otherMethod(allowed));
  }

  /** What is asked once the server stops. */
  void stopping(ServerResponse response) {
    response.header(HeaderValues.CONNECTION_CLOSE);
    send(response, words.stopping());
  }

  /** A handler's bug: the client is told that much, the log the rest. */
  void bug(ServerRequest request, ServerResponse response, Throwable bug) {
    if (bug instanceof HttpException refusal) {
      throw refusal;
    }
    String what = request.prologue().method() + " " + Names.shown(request.path().path());
    log.log(Level.ERROR, what + " failed in the " + words.name(), bug);
    if (!response.isSent()) {
      send(response, refusals.internal());
    }
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
    ApiError error = code == 413 ? words.bodyTooLarge().get() : refusals.of(code, what);
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
