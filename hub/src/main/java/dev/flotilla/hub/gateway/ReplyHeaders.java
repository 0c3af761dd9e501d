package dev.flotilla.hub.gateway;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.ServerResponse;

/** The headers of the hub's replies; an engine's own are dropped. */
final class ReplyHeaders {
  static final HeaderName WORKER = HeaderNames.create("x-flotilla-worker");
  static final HeaderName ATTEMPTS = HeaderNames.create("x-flotilla-attempts");
  static final HeaderName REVISION = HeaderNames.create("x-flotilla-revision");
  private static final Header EVENT_STREAM =
      HeaderValues.createCached(HeaderNames.CONTENT_TYPE, "text/event-stream; charset=utf-8");
  private static final Header NO_CACHE =
      HeaderValues.createCached(HeaderNames.CACHE_CONTROL, "no-cache");

  /** Tells nginx and its kin to pass events on at once. */
  private static final Header UNBUFFERED =
      HeaderValues.createCached(HeaderNames.create("x-accel-buffering"), "no");

  private ReplyHeaders() {}

  /** What every reply of the gateway carries. */
  static void identify(ServerResponse response, Exchange exchange, long revision) {
    response.header(RequestIds.HEADER, exchange.id);
    response.header(ATTEMPTS, Integer.toString(exchange.attempts));
    response.header(REVISION, Long.toString(revision));
    if (exchange.target != null) {
      response.header(WORKER, exchange.target.name());
    }
  }

  static void events(ServerResponse response) {
    response.header(EVENT_STREAM);
    response.header(NO_CACHE);
    response.header(UNBUFFERED);
  }
}
