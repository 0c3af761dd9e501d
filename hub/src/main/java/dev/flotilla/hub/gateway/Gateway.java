package dev.flotilla.hub.gateway;

import dev.flotilla.hub.gateway.RequestBodies.Body;
import dev.flotilla.hub.routing.Admission;
import dev.flotilla.hub.routing.Dispatcher;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.FleetSource;
import dev.flotilla.hub.routing.RequestNeeds;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.Target.Capability;
import dev.flotilla.hub.routing.Ticket;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.server.http.ErrorReplies;
import dev.flotilla.server.http.Paths;
import dev.flotilla.server.http.ServerLimits;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.shape.request.RequestRefused;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.RequestScan;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Scanned;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.http.HttpRules;
import io.helidon.webserver.http.HttpService;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The OpenAI-compatible routes that a model answers: chat completions, completions, embeddings.
 *
 * <p>{@link #serve} is the way of a request, from top to bottom, on the one virtual thread that
 * Helidon gave it. Waiting (for the body, for a place, for the engine, for the client) is blocking;
 * what ends a wait early is the client's going away, or the end of the time that requests have when
 * the hub stops: both close the ticket or the connection that the thread waits for.
 *
 * <p>The gateway keeps nothing between requests.
 */
public final class Gateway implements HttpService {
  private static final Duration COMING_RETRY = Duration.ofSeconds(5);
  private static final ApiError HUB_STOPS =
      ApiError.unavailable(
          "hub_stops", "the hub stops, and the time for what runs is over", COMING_RETRY);

  private final FleetSource fleet;
  private final Dispatcher dispatcher;
  private final Authenticator keys;
  private final Recorder recorder;
  private final GatewayLimits limits;
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
      Paths.post(
          rules, each.getKey(), (request, response) -> serve(each.getValue(), request, response));
    }
  }

  private void serve(Endpoint endpoint, ServerRequest request, ServerResponse response) {
    Exchange exchange = new Exchange(RequestIds.of(request), endpoint, nanoClock.getAsLong());
    ClientConnection client = ClientConnection.current();
    try {
      exchange.key = Bearer.identify(request, keys);
      try (KeyStreams.Open place = streams.enter(exchange.key);
          Body body = bodies.read(request)) {
        Scanned scanned = scan(endpoint, body.bytes());
        FleetSnapshot.Name name = name(scanned.model());
        exchange.model = name.name();
        exchange.streamed = scanned.stream() && endpoint != Endpoint.EMBEDDINGS;
        Asked asked = asked(endpoint, scanned);
        RequestNeeds needs = contextCheck.needs(asked, name, exchange.key, client);
        answers(exchange, place, asked, needs, request, response, client);
      }
    } catch (Refusal refusal) {
      refuse(exchange, refusal, response);
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

  private static Asked asked(Endpoint endpoint, Scanned scanned) throws Refusal {
    try {
      return Asked.of(endpoint, scanned);
    } catch (RequestRefused refused) {
      throw Refusal.refused(refused.error());
    }
  }

  private FleetSnapshot.Name name(String model) throws Refusal {
    FleetSnapshot.Name name = fleet.current().names().get(model);
    if (name == null) {
      throw Refusal.refused(UnknownModel.error(model, fleet.current(), limits.namesShown()));
    }
    return name;
  }

  /** Has one answer after the other, most of the time one, and sends what is not streamed. */
  private void answers(
      Exchange exchange,
      KeyStreams.Open place,
      Asked asked,
      RequestNeeds needs,
      ServerRequest request,
      ServerResponse response,
      ClientConnection client)
      throws Refusal, ClientGone {
    Answers answers =
        new Answers(
            asked,
            new ClientStream(
                client,
                () -> {
                  ReplyHeaders.identify(response, exchange, fleet.current().revision());
                  ReplyHeaders.events(response);
                  return response.outputStream();
                },
                place::close));
    byte[] asItCame = null;
    while (!answers.allThere()) {
      try {
        asItCame = answer(exchange, asked, needs, answers, request, client);
      } catch (Refusal refusal) {
        if (!answers.stream().begun()) {
          throw refusal;
        }
        throw answers.cutOff(exchange, refusal.error().message());
      }
    }
    exchange.end(200, "ok", "");
    if (!asked.streamed()) {
      place.close();
      whole(exchange, asItCame == null ? answers.joined() : asItCame, response);
    }
  }

  /** Places the request, and where a target fails it before the first byte, places it again. */
  private byte @Nullable [] answer(
      Exchange exchange,
      Asked asked,
      RequestNeeds first,
      Answers answers,
      ServerRequest request,
      ClientConnection client)
      throws Refusal, ClientGone {
    Failures failures = new Failures(limits);
    RequestNeeds needs = first;
    while (true) {
      try (Reservation place = place(exchange, needs, failures, client)) {
        exchange.target = place.target();
        exchange.concurrency = place.concurrency();
        exchange.attempts++;
        Attempt attempt =
            new Attempt(
                upstream, limits, recorder, nanoClock, exchange, asked, needs, place, answers,
                client);
        try {
          byte[] asItCame = attempt.run(request);
          failures.servedByAnother(dispatcher, exchange, recorder);
          return asItCame;
        } catch (AttemptFailed failed) {
          if (client.timeIsOver()) {
            throw Refusal.failed(HUB_STOPS);
          }
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

  private void whole(Exchange exchange, byte[] body, ServerResponse response) throws ClientGone {
    ReplyHeaders.identify(response, exchange, fleet.current().revision());
    response.header(HeaderValues.CONTENT_TYPE_JSON);
    try {
      response.send(body);
    } catch (RuntimeException unwritable) {
      throw new ClientGone();
    }
  }

  private Reservation place(
      Exchange exchange, RequestNeeds needs, Failures failures, ClientConnection client)
      throws Refusal, ClientGone {
    Ticket ticket =
        failures.afterSilence() ? dispatcher.enterAfterSilence(needs) : dispatcher.enter(needs);
    client.onCut(ticket::cancel);
    return switch (ticket.await()) {
      case Admission.Granted granted -> {
        exchange.queueNanos += granted.waitedNanos();
        yield granted.reservation();
      }
      case Admission.Cancelled _ -> {
        if (!client.isGone() && client.timeIsOver()) {
          throw Refusal.failed(HUB_STOPS);
        }
        throw new ClientGone();
      }
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
      case CAPABILITY ->
          ApiError.badRequest("model_not_capable", nothing.explanation(), nothing.param());
      case CONTEXT -> ContextCheck.tooLong(0, nothing.contextTokens());
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
    long prompt = Math.max(tooLong.promptTokens(), needs.contextTokens() - 1L);
    long context = tooLong.contextTokens() > 0 ? tooLong.contextTokens() : target.contextTokens();
    RequestNeeds more =
        needs
            .withPrompt(
                (int) Math.min(Integer.MAX_VALUE, Math.max(prompt, context) + 1),
                needs.promptTokens())
            .without(target);
    if (name == null || name.targets().stream().noneMatch(more::canGoTo)) {
      throw Refusal.refused(
          needs.capability() == Capability.EMBEDDINGS
              ? ContextCheck.tooLongText(tooLong.promptTokens(), context)
              : ContextCheck.tooLong(tooLong.promptTokens(), context));
    }
    return more;
  }

  private void refuse(Exchange exchange, Refusal refusal, ServerResponse response) {
    exchange.end(refusal.error().status(), refusal.outcome(), refusal.error().code());
    ReplyHeaders.identify(response, exchange, fleet.current().revision());
    ErrorReplies.send(response, refusal.error());
  }
}
