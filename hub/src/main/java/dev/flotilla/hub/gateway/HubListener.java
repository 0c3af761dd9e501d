package dev.flotilla.hub.gateway;

import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import dev.flotilla.server.http.RequestBody;
import dev.flotilla.server.http.ServerLimits;
import dev.flotilla.server.http.ServerWords;
import dev.flotilla.wire.openai.ApiError;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http1.spi.Http1Upgrader;
import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

/** The hub as a server: what it takes from clients, and what it says of itself. */
public final class HubListener {
  /** What the hub calls itself. */
  public static final String NAME = "hub";

  /** The defaults; the configuration may allow smaller bodies only. */
  public static final ServerLimits LIMITS = ServerLimits.of(64L << 20, 10_000);

  private static final ApiError STOPPING =
      ApiError.unavailable(
          "hub_stops",
          "the hub is stopping: ask again when it has been started anew",
          Duration.ofSeconds(5));

  private HubListener() {}

  /**
   * A hub's server, which does not listen yet.
   *
   * @param bodyBytesMax largest request body now, from the configuration: what is said of a body
   *     that even the listener refuses
   * @param services each adds its own paths
   * @param upgraders the lanes
   * @throws ListenFailed where the certificate can't be read
   */
  public static HttpServer of(
      Place place,
      ServerLimits limits,
      LongSupplier bodyBytesMax,
      List<HttpService> services,
      List<Http1Upgrader> upgraders)
      throws ListenFailed {
    return new HttpServer(
        place,
        limits,
        new ServerWords(NAME, STOPPING, () -> bodyTooLarge(bodyBytesMax.getAsLong())),
        routing -> services.forEach(routing::register),
        upgraders);
  }

  /** The refusal of a body that is larger than the configuration allows. */
  static ApiError bodyTooLarge(long bytesMax) {
    return RequestBody.tooLarge(bytesMax, "hub's limit (limits.request-body in fleet.yaml)");
  }
}
