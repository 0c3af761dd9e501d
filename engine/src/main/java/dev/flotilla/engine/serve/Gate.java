package dev.flotilla.engine.serve;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.server.BrowserGuard;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.Method;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Optional;

/**
 * Where each request passes first: it is refused without the key where there is one, by a foreign
 * name where there is none, and when the server stops. {@code /health} answers anyone, by whatever
 * name a supervisor has.
 */
final class Gate implements Filter {
  private static final String SCHEME = "Bearer ";
  private static final HeaderName API_KEY = HeaderNames.create("X-Api-Key");

  /** What a client is told whose request the server's stop refuses or ends. */
  static final ApiError STOPPING =
      ApiError.unavailable(
          "engine_stopping",
          "the server is stopping: ask again when it has been started anew",
          Duration.ofSeconds(5));

  private final Clients clients;
  private final String key;
  private final BrowserGuard guard;

  Gate(Clients clients, ServeSettings settings) {
    this.clients = clients;
    this.key = settings.key();
    this.guard =
        new BrowserGuard(
            "server",
            "start it with a key (--api-key-file, or the variable FLOTILLA_ENGINE_KEY)",
            settings.listen().getHostString(),
            settings.machineName(),
            !key.isEmpty());
  }

  @Override
  public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    WatchedConnection client = WatchedConnection.current();
    client.begun(
        request.headers().contentLength().orElse(0) > 0
            || request.headers().contains(HeaderNames.TRANSFER_ENCODING),
        request.prologue().method().equals(Method.HEAD));
    try {
      Optional<ApiError> refusal =
          request.path().path().equals("/health") ? Optional.empty() : refusal(request.headers());
      if (refusal.isPresent()) {
        Errors.send(response, refusal.get());
      } else if (clients.requests().enter()) {
        try {
          chain.proceed();
        } finally {
          clients.requests().leave();
        }
      } else {
        response.header(HeaderValues.CONNECTION_CLOSE);
        Errors.send(response, STOPPING);
      }
    } finally {
      client.ended();
      if (closes(request.headers()) || closes(response.headers())) {
        client.closeAfterReply();
      }
    }
  }

  /** Helidon itself keeps a connection open whose request or reply said that it closes. */
  private static boolean closes(Headers headers) {
    return headers.contains(HeaderNames.CONNECTION)
        && headers.containsToken(HeaderValues.CONNECTION_CLOSE);
  }

  private Optional<ApiError> refusal(Headers headers) {
    Optional<ApiError> foreign =
        guard.refusal(false, headers.first(HeaderNames.HOST).orElse(""), "", "");
    if (foreign.isPresent() || key.isEmpty()) {
      return foreign;
    }
    Optional<String> given = given(headers);
    if (given.isEmpty()) {
      return Optional.of(
          ApiError.unauthorized("this server wants its key, as 'Authorization: Bearer KEY'"));
    }
    boolean right =
        MessageDigest.isEqual(
            given.get().getBytes(StandardCharsets.UTF_8), key.getBytes(StandardCharsets.UTF_8));
    return right
        ? Optional.empty()
        : Optional.of(
            ApiError.unauthorized(
                "this key is not this server's: whoever started it knows the right one"));
  }

  private static Optional<String> given(Headers headers) {
    return headers
        .first(HeaderNames.AUTHORIZATION)
        .filter(value -> value.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
        .map(value -> value.substring(SCHEME.length()).strip())
        .or(() -> headers.first(API_KEY));
  }
}
