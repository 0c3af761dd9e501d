package dev.flotilla.hub.gateway;

import dev.flotilla.hub.server.JsonErrors;
import dev.flotilla.wire.server.HttpRefusals;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

/** Refuses the methods that a path does not have. */
final class OtherMethod {
  private OtherMethod() {}

  static void refuse(ServerRequest request, ServerResponse response, String allowed) {
    response.header(HeaderNames.ALLOW, allowed);
    if (RequestBodies.follows(request)) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    JsonErrors.send(response, HttpRefusals.otherMethod(allowed));
  }
}
