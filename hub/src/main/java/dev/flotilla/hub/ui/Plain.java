package dev.flotilla.hub.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.server.http.ClientConnection;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerResponse;

/** A sentence instead of a page. */
final class Plain {
  private Plain() {}

  static void send(ServerResponse response, Status status, String sentence) {
    response.status(status).header("Content-Type", "text/plain; charset=utf-8");
    ClientConnection.current().send(response, (sentence + '\n').getBytes(UTF_8));
  }
}
