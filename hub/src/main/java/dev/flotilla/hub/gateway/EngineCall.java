package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.HttpCall;
import dev.flotilla.wire.HttpHeaders;
import dev.flotilla.wire.RequestScan.Scanned;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.util.List;

/**
 * The request as an engine gets it: the client's body with the model's name as this engine knows
 * it, and headers of the hub's own. Of the client's headers only those of tracing are passed: no
 * key, no cookie, nothing that changes how an engine treats a connection, such as llama-server's
 * {@code X-Conversation-Id}, which makes it go on after its client left.
 */
final class EngineCall {
  private static final String LLAMA_SERVER = "llama-server";
  private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");
  private static final HeaderName TRACESTATE = HeaderNames.create("tracestate");
  private static final List<HeaderName> PASSED = List.of(TRACEPARENT, TRACESTATE);
  private static final int VALUE_CHARS_MAX = 512;

  private EngineCall() {}

  static HttpCall of(Exchange exchange, Scanned asked, Target target, ServerRequest request) {
    // llama-server counts in the last chunk's timings anyway; others have to be asked.
    boolean askForUsage = exchange.streamed && !target.engine().equals(LLAMA_SERVER);
    HttpHeaders headers = headers(target, exchange.streamed).with("x-request-id", exchange.id);
    for (HeaderName name : PASSED) {
      if (request.headers().contains(name)) {
        headers = passed(headers, name, request.headers().get(name).get());
      }
    }
    return HttpCall.post(
        target.basePath() + exchange.path(),
        headers,
        asked.forEngine(target.upstreamModel(), askForUsage));
  }

  /** What every request to a target carries. */
  static HttpHeaders headers(Target target, boolean stream) {
    String accept = stream ? "text/event-stream" : "application/json";
    String key = target.apiKey();
    return key == null
        ? HttpHeaders.of("content-type", "application/json", "accept", accept)
        : HttpHeaders.of(
            "content-type", "application/json", "accept", accept, "authorization", "Bearer " + key);
  }

  private static HttpHeaders passed(HttpHeaders headers, HeaderName name, String value) {
    boolean plain =
        value.length() <= VALUE_CHARS_MAX && value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    return plain ? headers.with(name.lowerCase(), value) : headers;
  }
}
