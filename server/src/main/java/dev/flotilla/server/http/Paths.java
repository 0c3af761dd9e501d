package dev.flotilla.server.http;

import io.helidon.webserver.http.Handler;
import io.helidon.webserver.http.HttpRules;

/** Paths with the methods that they have; any other is a 405 that names those. */
public final class Paths {
  private Paths() {}

  /** A path that is read; a HEAD gets what a GET does, without the body. */
  public static void get(HttpRules rules, String path, Handler handler) {
    rules.get(path, handler);
    rules.head(path, handler);
    rules.any(path, (_, response) -> ErrorReplies.otherMethod(response, "GET, HEAD"));
  }

  /** A path that something is sent to. */
  public static void post(HttpRules rules, String path, Handler handler) {
    rules.post(path, handler);
    rules.any(path, (_, response) -> ErrorReplies.otherMethod(response, "POST"));
  }
}
