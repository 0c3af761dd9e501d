package dev.flotilla.hub.gateway;

import dev.flotilla.hub.routing.RequestNeeds;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.shape.request.EngineRequest;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.util.List;
import java.util.Optional;

/**
 * The request as an engine gets it: the client's body in the engine's dialect ({@link
 * EngineRequest}), and headers of the hub's own. Of the client's headers only those of tracing are
 * passed: no key, no cookie, nothing that changes how an engine treats a connection, such as
 * llama-server's {@code X-Conversation-Id}, which makes it go on after its client left.
 */
final class EngineCall {
  private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");
  private static final HeaderName TRACESTATE = HeaderNames.create("tracestate");
  private static final List<HeaderName> PASSED = List.of(TRACEPARENT, TRACESTATE);
  private static final int VALUE_CHARS_MAX = 512;
  private static final HttpHeaders FOR_JSON =
      HttpHeaders.of("content-type", "application/json", "accept", "application/json");
  private static final HttpHeaders FOR_EVENTS =
      HttpHeaders.of("content-type", "application/json", "accept", "text/event-stream");

  private EngineCall() {}

  static HttpCall of(
      Exchange exchange,
      Asked asked,
      RequestNeeds needs,
      int answer,
      Target target,
      ServerRequest request) {
    HttpHeaders headers =
        headers(target, asked.streamedBy(target.dialect())).with("x-request-id", exchange.id);
    for (HeaderName name : PASSED) {
      if (request.headers().contains(name)) {
        headers = passed(headers, name, request.headers().get(name).get());
      }
    }
    return HttpCall.post(
        target.basePath() + exchange.path(),
        headers,
        EngineRequest.body(asked, place(needs, answer, target)));
  }

  /** The same for the shortest answer, which tells the tokens of the prompt. */
  static HttpCall toCount(
      Exchange exchange, Asked asked, RequestNeeds needs, int answer, Target target) {
    return HttpCall.post(
        target.basePath() + exchange.path(),
        headers(target, false),
        EngineRequest.bodyToCount(asked, place(needs, answer, target)));
  }

  private static EngineRequest.Place place(RequestNeeds needs, int answer, Target target) {
    return new EngineRequest.Place(
        target.dialect(),
        target.upstreamModel(),
        target.contextTokens(),
        needs.promptTokens(),
        answer,
        Optional.ofNullable(target.promise()).map(Promise::sampling));
  }

  /** What every request to a target carries. */
  static HttpHeaders headers(Target target, boolean stream) {
    HttpHeaders headers = stream ? FOR_EVENTS : FOR_JSON;
    String key = target.apiKey();
    return key == null ? headers : headers.with("authorization", "Bearer " + key);
  }

  private static HttpHeaders passed(HttpHeaders headers, HeaderName name, String value) {
    boolean plain =
        value.length() <= VALUE_CHARS_MAX && value.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    return plain ? headers.with(name.lowerCase(), value) : headers;
  }
}
