package dev.flotilla.engine.serve;

import dev.flotilla.server.http.BrowserGuard;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;

/**
 * Where each request passes first: it is refused without the key where there is one, and by a
 * foreign name or from a foreign page where there is none. {@code /health} answers anyone, by
 * whatever name a supervisor has.
 */
final class Gate implements Filter {
  private static final String SCHEME = "Bearer ";
  private static final HeaderName API_KEY = HeaderNames.create("X-Api-Key");

  private final String key;
  private final BrowserGuard guard;

  Gate(ServeSettings settings) {
    this.key = settings.key();
    this.guard =
        new BrowserGuard(
            EngineServer.NAME,
            "start it with a key (--api-key-file, or the variable FLOTILLA_ENGINE_KEY)",
            settings.listen().getHostString(),
            settings.machineName(),
            !key.isEmpty());
  }

  @Override
  public void filter(FilterChain chain, RoutingRequest request, RoutingResponse response) {
    Optional<ApiError> refusal =
        request.path().path().equals("/health") ? Optional.empty() : refusal(request);
    if (refusal.isPresent()) {
      ErrorReplies.send(response, refusal.get());
    } else {
      chain.proceed();
    }
  }

  private Optional<ApiError> refusal(RoutingRequest request) {
    Optional<ApiError> foreign = guard.refusalOfUse(BrowserGuard.Source.of(request));
    if (foreign.isPresent() || key.isEmpty()) {
      return foreign;
    }
    Optional<String> given = given(request.headers());
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
