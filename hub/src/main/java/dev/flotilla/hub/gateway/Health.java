package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.server.http.Paths;
import dev.flotilla.wire.text.Json;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import tools.jackson.core.JsonGenerator;

/**
 * {@code /health}: the process lives. {@code /ready}: a request can be served now, and what is
 * amiss. {@code /metrics}: the numbers. All without a key: they name models and workers, and no
 * secret.
 */
public final class Health implements HttpService {

  private final FleetSource fleet;
  private final Dispatcher dispatcher;
  private final Metrics metrics;
  private final Supplier<List<String>> troubles;

  /**
   * @param troubles what is amiss though requests are served, one sentence each, such as a store
   *     that can't write
   */
  public Health(
      FleetSource fleet, Dispatcher dispatcher, Metrics metrics, Supplier<List<String>> troubles) {
    this.fleet = fleet;
    this.dispatcher = dispatcher;
    this.metrics = metrics;
    this.troubles = troubles;
  }

  @Override
  public void routing(HttpRules rules) {
    Paths.get(rules, "/health", this::health);
    Paths.get(rules, "/ready", this::ready);
    Paths.get(rules, "/metrics", this::scrape);
  }

  private static void send(ServerResponse response, String body) {
    ClientConnection.current().send(response, body.getBytes(UTF_8));
  }

  private void health(ServerRequest request, ServerResponse response) {
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    send(response, "{\"status\":\"ok\"}");
  }

  private void ready(ServerRequest request, ServerResponse response) {
    List<String> serving = new ArrayList<>();
    List<String> reasons = new ArrayList<>();
    for (FleetSnapshot.Name name : fleet.current().names().values()) {
      if (dispatcher.serves(name)) {
        serving.add(name.name());
      } else {
        reasons.add(
            name.explanation().isEmpty()
                ? "no worker of model '" + name.name() + "' takes requests"
                : name.explanation());
      }
    }
    if (fleet.current().names().isEmpty()) {
      reasons.add("no model is configured: use 'flotilla apply fleet.yaml'");
    }
    boolean ready = !serving.isEmpty();
    reasons.addAll(troubles.get());
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (JsonGenerator json = Json.generator(body)) {
      json.writeStartObject();
      json.writeBooleanProperty("ready", ready);
      strings(json, "serving", serving);
      strings(json, "reasons", reasons);
      json.writeEndObject();
    }
    response.status(ready ? 200 : 503);
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    if (!ready) {
      response.header(HeaderNames.RETRY_AFTER, "1");
    }
    ClientConnection.current().send(response, body.toByteArray());
  }

  private static void strings(JsonGenerator json, String name, List<String> values) {
    json.writeArrayPropertyStart(name);
    values.forEach(json::writeString);
    json.writeEndArray();
  }

  private void scrape(ServerRequest request, ServerResponse response) {
    response.header(HeaderNames.CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    send(response, metrics.scrape(fleet, dispatcher));
  }
}
