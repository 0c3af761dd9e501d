package dev.flotilla.hub.gateway;

import dev.flotilla.wire.openai.ApiError;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.util.Optional;

/** Who asks, from the header {@code Authorization: Bearer KEY}. */
final class Bearer {
  private static final String SCHEME = "bearer ";

  private Bearer() {}

  /**
   * The name of the client's key; empty where no key is demanded and none that is known was given:
   * client libraries send one of their own making where they are told none.
   */
  static String identify(ServerRequest request, Authenticator keys) throws Refusal {
    Optional<ClientKey> key = token(request).flatMap(keys::authenticate);
    if (key.isPresent()) {
      return key.get().name();
    }
    if (keys.required()) {
      throw Refusal.refused(
          ApiError.unauthorized(
              token(request).isPresent()
                  ? "this key is not valid here: an administrator makes one with 'flotilla keys"
                      + " create NAME'"
                  : "a key is needed, as 'Authorization: Bearer KEY': an administrator makes one"
                      + " with 'flotilla keys create NAME'"));
    }
    return "";
  }

  private static Optional<String> token(ServerRequest request) {
    if (!request.headers().contains(HeaderNames.AUTHORIZATION)) {
      return Optional.empty();
    }
    String value = request.headers().get(HeaderNames.AUTHORIZATION).get();
    return value.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        ? Optional.of(value.substring(SCHEME.length()).trim())
        : Optional.empty();
  }
}
