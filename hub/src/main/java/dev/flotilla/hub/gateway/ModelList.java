package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.server.http.Paths;
import dev.flotilla.wire.text.Json;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.ByteArrayOutputStream;
import tools.jackson.core.JsonGenerator;

/** {@code GET /v1/models} and {@code GET /v1/models/NAME}: the public names, and no others. */
public final class ModelList implements HttpService {
  private static final String PATH = "/v1/models";

  private final FleetSource fleet;
  private final Authenticator keys;
  private final int namesShown;

  public ModelList(FleetSource fleet, Authenticator keys, GatewayLimits limits) {
    this.fleet = fleet;
    this.keys = keys;
    this.namesShown = limits.namesShown();
  }

  @Override
  public void routing(HttpRules rules) {
    Paths.get(rules, PATH, this::list);
    Paths.get(rules, PATH + "/*", this::one);
  }

  private void list(ServerRequest request, ServerResponse response) {
    try {
      Bearer.identify(request, keys);
    } catch (Refusal refusal) {
      ErrorReplies.send(response, refusal.error());
      return;
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (JsonGenerator json = Json.generator(body)) {
      json.writeStartObject();
      json.writeStringProperty("object", "list");
      json.writeArrayPropertyStart("data");
      for (FleetSnapshot.Name name : fleet.current().names().values()) {
        write(json, name);
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    ClientConnection.current().send(response, body.toByteArray());
  }

  private void one(ServerRequest request, ServerResponse response) {
    String model = request.path().path().substring(PATH.length() + 1);
    FleetSnapshot.Name name = fleet.current().names().get(model);
    try {
      Bearer.identify(request, keys);
      if (name == null) {
        throw Refusal.refused(UnknownModel.error(model, fleet.current(), namesShown));
      }
    } catch (Refusal refusal) {
      ErrorReplies.send(response, refusal.error());
      return;
    }
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    try (JsonGenerator json = Json.generator(body)) {
      write(json, name);
    }
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    ClientConnection.current().send(response, body.toByteArray());
  }

  private static void write(JsonGenerator json, FleetSnapshot.Name name) {
    json.writeStartObject();
    json.writeStringProperty("id", name.name());
    json.writeStringProperty("object", "model");
    json.writeNumberProperty("created", name.createdEpochSeconds());
    json.writeStringProperty("owned_by", "flotilla");
    json.writeEndObject();
  }
}
