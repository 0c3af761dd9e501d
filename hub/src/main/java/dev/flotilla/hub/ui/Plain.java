package dev.flotilla.hub.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;

/** How pages and their files are sent, and a sentence instead of one. */
final class Plain {
  private Plain() {}

  static void send(ServerRequest request, ServerResponse response, Status status, String sentence) {
    response.status(status).header("Content-Type", "text/plain; charset=utf-8");
    send(request, response, (sentence + '\n').getBytes(UTF_8));
  }

  /** Sends a whole reply, or to a HEAD how long its body would be. */
  static void send(ServerRequest request, ServerResponse response, byte[] body) {
    if (request.prologue().method().equals(Method.HEAD)) {
      response.headers().contentLength(body.length);
      response.send();
    } else {
      response.send(body);
    }
  }
}
