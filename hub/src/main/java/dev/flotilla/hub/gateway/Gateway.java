package dev.flotilla.hub.gateway;

import dev.flotilla.hub.gateway.EngineReply.ClientsMistake;
import dev.flotilla.hub.gateway.EngineReply.Failure;
import dev.flotilla.hub.gateway.EngineReply.TooLong;
import dev.flotilla.hub.gateway.RequestBodies.Body;
import dev.flotilla.hub.gateway.Upstream.Call;
import dev.flotilla.hub.routing.Admission;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.routing.RequestNeeds;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.Ticket;
import dev.flotilla.hub.server.ClientConnection;
import dev.flotilla.hub.server.JsonErrors;
import dev.flotilla.hub.server.ServerLimits;
import dev.flotilla.wire.ApiError;
import dev.flotilla.wire.ChunkScan;
import dev.flotilla.wire.Deadlines;
import dev.flotilla.wire.EngineError;
import dev.flotilla.wire.HttpCall;
import dev.flotilla.wire.HttpReply;
import dev.flotilla.wire.RequestScan;
import dev.flotilla.wire.RequestScan.Endpoint;
import dev.flotilla.wire.RequestScan.Scanned;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The OpenAI-compatible routes that a model answers: chat completions, completions, embeddings.
 *
 * <p>{@link #serve} is the way of a request, from top to bottom, on the one virtual thread that
 * Helidon gave it. Waiting (for the body, for a place, for the engine, for the client) is blocking;
 * what ends a wait early is the client's going away, which closes the ticket or the connection that
 * the thread waits for.
 *
 * <p>The gateway keeps nothing between requests.
 */
public final class Gateway implements HttpService {
  private static final Duration COMING_RETRY = Duration.ofSeconds(5);

  private final FleetSource fleet;
  private final Dispatcher dispatcher;
  private final Authenticator keys;
  private final Recorder recorder;
  private final GatewayLimits limits;
  private final Duration linger;
  private final KeyStreams streams;
  private final RequestBodies bodies;
  private final Upstream upstream;
  private final ContextCheck contextCheck;
  private final LongSupplier nanoClock;

  /**
   * @param requestBodyBytes largest request body now, from the configuration
   */
  public Gateway(
      FleetSource fleet,
      Dispatcher dispatcher,
      Authenticator keys,
      Recorder recorder,
      Deadlines deadlines,
      GatewayLimits limits,
      ServerLimits serverLimits,
      LongSupplier requestBodyBytes,
      LongSupplier nanoClock) {
    this.fleet = fleet;
    this.dispatcher = dispatcher;
    this.keys = keys;
    this.recorder = recorder;
    this.limits = limits;
    this.linger = serverLimits.lingerTime();
    this.streams = new KeyStreams(limits.requestsPerKey());
    this.bodies =
        new RequestBodies(
            () -> Math.min(requestBodyBytes.getAsLong(), serverLimits.bodyBytesMax()),
            limits.bodyBytesTotalMax());
    this.upstream = new Upstream(deadlines, limits.connect());
    this.contextCheck = new ContextCheck(upstream, limits);
    this.nanoClock = nanoClock;
  }

  @Override
  public void routing(HttpRules rules) {
    for (Map.Entry<String, Endpoint> each :
        Map.of(
                "/v1/chat/completions", Endpoint.CHAT,
                "/v1/completions", Endpoint.COMPLETIONS,
                "/v1/embeddings", Endpoint.EMBEDDINGS)
            .entrySet()) {
      rules.post(each.getKey(), (request, response) -> serve(each.getValue(), request, response));
      rules.any(
          each.getKey(), (request, response) -> OtherMethod.refuse(request, response, "POST"));
    }
  }

  private void serve(Endpoint endpoint, ServerRequest request, ServerResponse response) {
    Exchange exchange = new Exchange(RequestIds.of(request), endpoint, nanoClock.getAsLong());
    ClientConnection client = ClientConnection.current();
    boolean bodyRead = false;
    try {
      exchange.key = Bearer.identify(request, keys);
      try (KeyStreams.Open _ = streams.enter(exchange.key);
          Body body = bodies.read(request)) {
        bodyRead = true;
        Scanned asked = scan(endpoint, body.bytes());
        FleetSnapshot.Name name = name(asked.model());
        exchange.model = name.name();
        exchange.streamed = asked.stream() && endpoint != Endpoint.EMBEDDINGS;
        RequestNeeds needs = contextCheck.needs(endpoint, asked, name, exchange.key, client);
        answer(exchange, asked, needs, request, response, client);
      }
    } catch (Refusal refusal) {
      refuse(exchange, refusal, bodyRead, request, response);
    } catch (ClientGone gone) {
      exchange.end(499, "client-gone", "");
      throw new CloseConnectionException("the client went away", gone);
    } finally {
      exchange.endedNanos = nanoClock.getAsLong();
      recorder.finished(exchange);
    }
  }

  private static Scanned scan(Endpoint endpoint, byte[] body) throws Refusal {
    return switch (RequestScan.scan(endpoint, body)) {
      case Scanned scanned -> scanned;
      case RequestScan.Refused refused -> throw Refusal.refused(refused.error());
    };
  }

  private FleetSnapshot.Name name(String model) throws Refusal {
    FleetSnapshot.Name name = fleet.current().names().get(model);
    if (name == null) {
      throw Refusal.refused(UnknownModel.error(model, fleet.current(), limits.namesShown()));
    }
    return name;
  }

  /** Places the request, and where a target fails it before the first byte, places it again. */
  private void answer(
      Exchange exchange,
      Scanned asked,
      RequestNeeds first,
      ServerRequest request,
      ServerResponse response,
      ClientConnection client)
      throws Refusal, ClientGone {
    Failures failures = new Failures(limits);
    RequestNeeds needs = first;
    while (true) {
      try (Reservation place = place(exchange, needs, failures, client)) {
        exchange.target = place.target();
        exchange.concurrency = place.concurrency();
        exchange.attempts++;
        try {
          attempt(exchange, asked, place, request, response, client);
          failures.servedByAnother(dispatcher, exchange, recorder);
          return;
        } catch (AttemptFailed failed) {
          failures.add(place, failed);
          recorder.attemptFailed(exchange, failed);
          if (!failures.mayTryAnother()) {
            throw failures.refusal(exchange.model);
          }
          needs = needs.without(place.target());
        } catch (TooLongHere tooLong) {
          needs = larger(needs, place.target(), tooLong);
        }
      }
    }
  }

  private Reservation place(
      Exchange exchange, RequestNeeds needs, Failures failures, ClientConnection client)
      throws Refusal, ClientGone {
    Ticket ticket =
        failures.afterSilence() ? dispatcher.enterAfterSilence(needs) : dispatcher.enter(needs);
    client.onGone(ticket::cancel);
    return switch (ticket.await()) {
      case Admission.Granted granted -> {
        exchange.queueNanos += granted.waitedNanos();
        yield granted.reservation();
      }
      case Admission.Cancelled _ -> throw new ClientGone();
      case Admission.QueueFull full -> throw Refusal.refused(Crowded.queueFull(needs, full));
      case Admission.WaitedTooLong late ->
          throw Refusal.refused(Crowded.waitedTooLong(needs, late));
      case Admission.NothingServes nothing -> {
        if (!failures.none()) {
          throw failures.refusal(needs.model());
        }
        throw Refusal.refused(nothingServes(needs, nothing));
      }
    };
  }

  private ApiError nothingServes(RequestNeeds needs, Admission.NothingServes nothing) {
    return switch (nothing.why()) {
      case UNKNOWN_NAME -> UnknownModel.error(needs.model(), fleet.current(), limits.namesShown());
      case CAPABILITY -> ApiError.badRequest("model_not_capable", nothing.explanation(), "model");
      case CONTEXT -> ContextCheck.tooLong(needs.contextTokens() - 1, nothing.contextTokens());
      case NOT_SERVING, SET_ASIDE, ALL_TRIED ->
          ApiError.unavailable(
              "model_not_serving",
              nothing.explanation(),
              nothing.retryAfter().compareTo(COMING_RETRY) < 0
                  ? COMING_RETRY
                  : nothing.retryAfter());
    };
  }

  /** After an engine's own refusal: a target with a larger context may do, if there is one. */
  private RequestNeeds larger(RequestNeeds needs, Target target, TooLongHere tooLong)
      throws Refusal {
    FleetSnapshot.Name name = fleet.current().names().get(needs.model());
    long prompt = Math.max(tooLong.promptTokens, needs.contextTokens() - 1L);
    long context = tooLong.contextTokens > 0 ? tooLong.contextTokens : target.contextTokens();
    RequestNeeds more =
        new RequestNeeds(
                needs.model(),
                needs.capability(),
                needs.key(),
                (int) Math.min(Integer.MAX_VALUE, Math.max(prompt, context) + 1),
                needs.promptTokens(),
                needs.outputTokensMax(),
                needs.tried())
            .without(target);
    if (name == null || name.targets().stream().noneMatch(more::canGoTo)) {
      throw Refusal.refused(ContextCheck.tooLong(prompt, context));
    }
    return more;
  }

  private void attempt(
      Exchange exchange,
      Scanned asked,
      Reservation place,
      ServerRequest request,
      ServerResponse response,
      ClientConnection client)
      throws AttemptFailed, TooLongHere, Refusal, ClientGone {
    Target target = place.target();
    HttpCall call = EngineCall.of(exchange, asked, target, request);
    exchange.sentNanos = nanoClock.getAsLong();
    try (Call upstreamCall =
        upstream.send(target, call, exchange.streamed ? limits.stream() : limits.whole(), client)) {
      HttpReply reply = upstreamCall.reply();
      if (reply.status() != 200) {
        throw refusedByEngine(upstreamCall, place);
      }
      if (exchange.streamed && isEventStream(reply)) {
        stream(exchange, asked, place, upstreamCall, response, client);
      } else {
        whole(exchange, place, upstreamCall, response, client);
      }
    }
  }

  private static boolean isEventStream(HttpReply reply) {
    Optional<String> type = reply.headers().first("content-type");
    return type.isPresent()
        && type.get().trim().toLowerCase(Locale.ROOT).startsWith("text/event-stream");
  }

  /** Reads an error of the engine and says what it means; what it returns is never reached. */
  private AttemptFailed refusedByEngine(Call call, Reservation place)
      throws Refusal, TooLongHere, ClientGone {
    byte[] body;
    try {
      body = call.reply().bytes(limits.errorBytesMax());
    } catch (IOException unreadable) {
      return call.failed(unreadable);
    }
    call.keep();
    return meaning(call.reply().status(), EngineError.parse(body), place);
  }

  private static AttemptFailed meaning(int status, EngineError error, Reservation place)
      throws Refusal, TooLongHere {
    return switch (EngineReply.of(status, error, place.target().name())) {
      case Failure failure -> failure.failed();
      case TooLong tooLong -> {
        place.served();
        throw new TooLongHere(tooLong.overflow());
      }
      case ClientsMistake mistake -> {
        place.served();
        throw Refusal.refused(mistake.error());
      }
    };
  }

  private void stream(
      Exchange exchange,
      Scanned asked,
      Reservation place,
      Call call,
      ServerResponse response,
      ClientConnection client)
      throws AttemptFailed, ClientGone {
    StreamRelay relay =
        new StreamRelay(
            call,
            exchange,
            client,
            limits.eventBytesMax(),
            asked.includeUsage(),
            () -> {
              ReplyHeaders.identify(response, exchange, fleet.current().revision());
              ReplyHeaders.events(response);
              return response.outputStream();
            },
            nanoClock);
    String cut = relay.relay();
    if (cut != null) {
      if (relay.stalled()) {
        place.stalled(cut);
      } else {
        place.failed(cut);
      }
      exchange.end(200, "cut", "stream_cut");
      recorder.cut(exchange, cut);
      throw new CloseConnectionException("the stream was cut, and its client told");
    }
    place.served();
    exchange.end(200, "ok", "");
    upstream.finish(call, limits.drain(), relay::drain);
    call.keep();
  }

  private void whole(
      Exchange exchange,
      Reservation place,
      Call call,
      ServerResponse response,
      ClientConnection client)
      throws AttemptFailed, TooLongHere, Refusal, ClientGone {
    byte[] body;
    try {
      call.deadline().pause();
      body = call.reply().bytes(limits.replyBytesMax());
    } catch (IOException cut) {
      throw call.failed(cut);
    }
    call.keep();
    ChunkScan scan = new ChunkScan(exchange.model);
    if (exchange.streamed || !scan.scan(body, 0, body.length)) {
      String reason =
          exchange.streamed
              ? "answered a request for a stream without one"
              : "answered with something that is not a JSON object";
      throw AttemptFailed.answered(
          reason,
          AttemptFailed.Blame.TARGET,
          ApiError.badGateway("upstream_failed", place.target().name() + " " + reason));
    }
    EngineError error = scan.error();
    if (error != null) {
      throw meaning(500, error, place);
    }
    exchange.usage = scan.usage();
    exchange.timings = scan.timings();
    exchange.firstByteNanos = nanoClock.getAsLong();
    place.served();
    ReplyHeaders.identify(response, exchange, fleet.current().revision());
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    exchange.end(200, "ok", "");
    client.writing();
    try {
      response.send(scan.withModel(body));
    } catch (RuntimeException unwritable) {
      throw new ClientGone();
    } finally {
      client.written();
    }
  }

  private void refuse(
      Exchange exchange,
      Refusal refusal,
      boolean bodyRead,
      ServerRequest request,
      ServerResponse response) {
    exchange.end(refusal.error().status(), refusal.outcome(), refusal.error().code());
    ReplyHeaders.identify(response, exchange, fleet.current().revision());
    boolean unread = !bodyRead && RequestBodies.follows(request);
    if (unread) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    if (refusal.error().status() == 401) {
      response.header(HeaderNames.WWW_AUTHENTICATE, "Bearer");
    }
    JsonErrors.send(response, refusal.error());
    if (unread) {
      RequestBodies.drop(request, linger, nanoClock);
      throw new CloseConnectionException("refused before its body was read");
    }
  }

  /** The engine found the prompt too long for it. */
  private static final class TooLongHere extends Exception {
    private static final long serialVersionUID = 1;

    private final long promptTokens;
    private final long contextTokens;

    TooLongHere(EngineError.ContextOverflow overflow) {
      super("too long", null, false, false);
      this.promptTokens = overflow.promptTokens();
      this.contextTokens = overflow.contextTokens();
    }
  }
}
