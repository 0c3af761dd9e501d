package dev.flotilla.hub.gateway;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;

/** Names for requests, to find one again in logs of clients and engines. */
final class RequestIds {
  static final HeaderName HEADER = HeaderNames.create("x-request-id");
  private static final int CHARS_MAX = 128;

  private RequestIds() {}

  /** The client's own where it gave a harmless one, otherwise a new one. */
  static String of(ServerRequest request) {
    if (request.headers().contains(HEADER)) {
      String given = request.headers().get(HEADER).get();
      if (harmless(given)) {
        return given;
      }
    }
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return "req-" + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextInt());
  }

  /** For a tool call that its engine gave none. */
  static String ofToolCall() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    HexFormat hex = HexFormat.of();
    return "call_" + hex.toHexDigits(random.nextLong()) + hex.toHexDigits(random.nextLong());
  }

  private static boolean harmless(String id) {
    if (id.isEmpty() || id.length() > CHARS_MAX) {
      return false;
    }
    for (int i = 0; i < id.length(); i++) {
      char c = id.charAt(i);
      boolean word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!word && c != '-' && c != '_' && c != '.') {
        return false;
      }
    }
    return true;
  }
}
