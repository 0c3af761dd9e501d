package dev.flotilla.hub.api;

import dev.flotilla.server.http.BrowserGuard;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.util.Optional;

/**
 * Stands before everything that a browser may be led to by a foreign name (DNS rebinding), or that
 * a foreign page may have the hub do without reading the answer: {@code /v1}, the dashboard, stored
 * reports and {@code /metrics}. {@link Api} looks itself. Where keys are demanded any name will do,
 * as a page without a key gets nothing; {@code /health} and {@code /ready} tell no secret and are
 * asked by whatever name a supervisor has; agents prove who they are.
 *
 * <p>To be registered before the services that it guards.
 */
public final class HostGuard implements HttpService {
  private final BrowserGuard guard;
  private final boolean keysDemanded;

  /**
   * @param listenHost what the hub listens on
   * @param machineName the machine's own name, empty where unknown
   */
  public HostGuard(String listenHost, String machineName, boolean keysDemanded) {
    this.guard = guard(listenHost, machineName, keysDemanded);
    this.keysDemanded = keysDemanded;
  }

  static BrowserGuard guard(String listenHost, String machineName, boolean keysDemanded) {
    return new BrowserGuard(
        "hub",
        "make a key with 'flotilla keys create' and restart it",
        listenHost,
        machineName,
        keysDemanded);
  }

  @Override
  public void routing(HttpRules rules) {
    if (!keysDemanded) {
      rules
          .any("/", this::look)
          .any("/ui/*", this::look)
          .any("/reports/*", this::look)
          .any("/v1/*", this::look)
          .any("/metrics", this::look);
    }
  }

  private void look(ServerRequest request, ServerResponse response) {
    Optional<ApiError> refusal = guard.refusalOfUse(BrowserGuard.Source.of(request));
    if (refusal.isPresent()) {
      ErrorReplies.send(response, refusal.get());
    } else {
      response.next();
    }
  }
}
