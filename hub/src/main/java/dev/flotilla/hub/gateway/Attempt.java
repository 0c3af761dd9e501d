package dev.flotilla.hub.gateway;

import dev.flotilla.hub.gateway.EngineReply.ClientsMistake;
import dev.flotilla.hub.gateway.EngineReply.Failure;
import dev.flotilla.hub.gateway.EngineReply.TooLong;
import dev.flotilla.hub.gateway.Upstream.Call;
import dev.flotilla.hub.routing.RequestNeeds;
import dev.flotilla.hub.routing.Reservation;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.server.http.ClientConnection;
import dev.flotilla.shape.reply.Assembly;
import dev.flotilla.shape.reply.EmbeddingsForm;
import dev.flotilla.shape.reply.ReplyForm;
import dev.flotilla.shape.reply.StreamShaper;
import dev.flotilla.shape.reply.WholeShaper;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.openai.EngineError;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.text.Json;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.node.ObjectNode;

/**
 * One try to have one answer from one target: the request in the engine's dialect, its reply in the
 * form that the name promises. Where the try fails before the client has seen anything of the
 * answer, another may follow. For the request's thread.
 */
final class Attempt {
  private static final String NO_JSON = "answered with something that is not a JSON object";

  private final Upstream upstream;
  private final GatewayLimits limits;
  private final Recorder recorder;
  private final LongSupplier nanoClock;
  private final Exchange exchange;
  private final Asked asked;
  private final RequestNeeds needs;
  private final Reservation place;
  private final Target target;
  private final Answers answers;
  private final ClientConnection client;
  private final ReplyForm form;

  Attempt(
      Upstream upstream,
      GatewayLimits limits,
      Recorder recorder,
      LongSupplier nanoClock,
      Exchange exchange,
      Asked asked,
      RequestNeeds needs,
      Reservation place,
      Answers answers,
      ClientConnection client) {
    this.upstream = upstream;
    this.limits = limits;
    this.recorder = recorder;
    this.nanoClock = nanoClock;
    this.exchange = exchange;
    this.asked = asked;
    this.needs = needs;
    this.place = place;
    this.target = place.target();
    this.answers = answers;
    this.client = client;
    this.form =
        new ReplyForm(
            asked,
            target.dialect(),
            target.promise(),
            exchange.model,
            "fp_" + HexFormat.of().toHexDigits(target.ledgerKey().hashCode()),
            answers.index());
  }

  /**
   * Has the answer streamed to the client, or adds it whole to {@link Answers}.
   *
   * @return the reply's own bytes where it came whole and nothing is changed in it but the model's
   *     name, otherwise null
   */
  byte @Nullable [] run(ServerRequest request)
      throws AttemptFailed, TooLongHere, Refusal, ClientGone {
    exchange.begin(nanoClock.getAsLong());
    boolean stream = asked.streamedBy(target.dialect());
    try (Call call =
        upstream.send(
            target,
            EngineCall.of(exchange, asked, needs, answers.index(), target, request),
            stream ? limits.stream() : limits.whole(),
            client)) {
      HttpReply reply = call.reply();
      if (reply.status() != 200) {
        throw refusedByEngine(call);
      }
      if (stream != isEventStream(reply)) {
        throw unwanted(
            stream
                ? "answered a request for a stream without one"
                : "answered with a stream that nobody asked for");
      }
      if (!stream) {
        return whole(call);
      }
      StreamShaper shaper = new StreamShaper(form, RequestIds::ofToolCall, answers.before());
      EngineEvents events = new EngineEvents(call, exchange, shaper, limits.eventBytesMax());
      StreamRelay relay =
          new StreamRelay(events, exchange, shaper, LeakedThought.matters(target), nanoClock);
      if (asked.streamed()) {
        stream(call, events, relay, shaper);
      } else {
        assemble(call, events, relay, shaper);
      }
      if (relay.leakedThought()) {
        recorder.misplaced(target, LeakedThought.WORDS);
      }
      return null;
    }
  }

  private static boolean isEventStream(HttpReply reply) {
    Optional<String> type = reply.headers().first("content-type");
    return type.isPresent()
        && type.get().trim().toLowerCase(Locale.ROOT).startsWith("text/event-stream");
  }

  private void stream(Call call, EngineEvents events, StreamRelay relay, StreamShaper shaper)
      throws AttemptFailed, ClientGone {
    ClientStream out = answers.stream();
    long before = out.sent();
    try {
      relay.relay(out);
    } catch (AttemptFailed cut) {
      if (client.timeIsOver()) {
        // The hub cut it, which says nothing of the target.
        throw cut;
      }
      if (out.sent() == before) {
        exchange.forget();
        throw cut;
      }
      if (cut.stalled()) {
        place.stalled(cut.reason());
      } else {
        place.failed(cut.reason());
      }
      recorder.cut(exchange, cut.reason());
      throw answers.cutOff(exchange, target.name() + ": " + cut.reason());
    }
    answers.streamed(shaper, cost(call, shaper));
    end(call, events, shaper);
  }

  private void assemble(Call call, EngineEvents events, StreamRelay relay, StreamShaper shaper)
      throws AttemptFailed, ClientGone {
    Assembly assembly = new Assembly(form);
    try {
      relay.assemble(assembly);
    } catch (AttemptFailed cut) {
      exchange.forget();
      throw cut;
    }
    answers.whole(assembly.whole(cost(call, shaper)));
    end(call, events, shaper);
  }

  private void end(Call call, EngineEvents events, StreamShaper shaper) {
    place.served();
    exchange.answered();
    if (!shaper.stopped()) {
      upstream.finish(call, limits.drain(), events::drain);
      call.keep();
    }
  }

  /**
   * What the answer cost: the tokens that the engine drew for it, also those that no client sees.
   * Where the hub stopped it, the engine is told to stop by closing its connection, and then can't
   * tell any more: the pieces are counted, that of the stop string too, as engines do, and the
   * prompt's tokens asked for by a request for the shortest answer. How many of these were cached
   * nobody knows then.
   */
  private @Nullable ObjectNode cost(Call call, StreamShaper shaper) throws ClientGone {
    if (!shaper.stopped()) {
      return shaper.usage();
    }
    call.connection().close();
    boolean wanted = !asked.streamed() || asked.scanned().includeUsage();
    ObjectNode usage = Json.MAPPER.createObjectNode();
    long prompt = wanted ? promptTokens() : needs.promptTokens();
    usage.put("completion_tokens", shaper.pieces());
    usage.put("prompt_tokens", prompt);
    usage.put("total_tokens", prompt + shaper.pieces());
    exchange.stopped(prompt, shaper.pieces());
    return usage;
  }

  private long promptTokens() throws ClientGone {
    try (Call counting =
        upstream.send(
            target,
            EngineCall.toCount(exchange, asked, needs, answers.index(), target),
            limits.count(),
            client)) {
      byte[] body = counting.reply().bytes(limits.replyBytesMax());
      counting.keep();
      ChunkScan scan = new ChunkScan(exchange.model);
      if (counting.reply().status() == 200
          && scan.scan(body, 0, body.length)
          && scan.usage() != null) {
        return scan.usage().promptTokens();
      }
    } catch (AttemptFailed | IOException uncounted) {
      // The guess is as good as it was.
      return needs.promptTokens();
    }
    return needs.promptTokens();
  }

  private byte @Nullable [] whole(Call call)
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
    if (!scan.scan(body, 0, body.length)) {
      throw unwanted(NO_JSON);
    }
    EngineError error = scan.error();
    if (error != null) {
      throw meaning(500, error);
    }
    byte[] asItCame = shaped(scan, body);
    exchange.usage = scan.usage();
    exchange.timings = scan.timings();
    exchange.firstByteNanos = nanoClock.getAsLong();
    place.served();
    exchange.answered();
    if (LeakedThought.matters(target) && LeakedThought.in(body, 0, body.length)) {
      recorder.misplaced(target, LeakedThought.WORDS);
    }
    return asItCame;
  }

  private byte @Nullable [] shaped(ChunkScan scan, byte[] body) throws AttemptFailed {
    if (asked.endpoint() == Endpoint.EMBEDDINGS) {
      return vectors(scan, body);
    }
    WholeShaper shaper = new WholeShaper(form, RequestIds::ofToolCall);
    byte[] asItCame = shaper.asItCame(scan, body);
    if (asItCame != null) {
      answers.whole(Json.MAPPER.createObjectNode());
      return asItCame;
    }
    Optional<ObjectNode> shaped;
    try {
      shaped = shaper.shape((ObjectNode) Json.MAPPER.readTree(body));
    } catch (JacksonException _) {
      throw unwanted(NO_JSON);
    }
    answers.whole(shaped.orElseGet(Json.MAPPER::createObjectNode));
    return shaped.isEmpty() ? scan.withModel(body) : null;
  }

  private byte @Nullable [] vectors(ChunkScan scan, byte[] body) throws AttemptFailed {
    if (!EmbeddingsForm.differs(form)) {
      answers.whole(Json.MAPPER.createObjectNode());
      return scan.withModel(body);
    }
    try {
      answers.whole(EmbeddingsForm.shape((ObjectNode) Json.MAPPER.readTree(body), form));
      return null;
    } catch (JacksonException _) {
      throw unwanted(NO_JSON);
    }
  }

  private AttemptFailed unwanted(String reason) {
    return AttemptFailed.answered(
        reason,
        AttemptFailed.Blame.TARGET,
        ApiError.badGateway("upstream_failed", target.name() + " " + reason));
  }

  /** Reads an error of the engine and says what it means; what it returns is never reached. */
  private AttemptFailed refusedByEngine(Call call) throws Refusal, TooLongHere, ClientGone {
    byte[] body;
    try {
      body = call.reply().bytes(limits.errorBytesMax());
    } catch (IOException unreadable) {
      return call.failed(unreadable);
    }
    call.keep();
    return meaning(call.reply().status(), EngineError.parse(body));
  }

  private AttemptFailed meaning(int status, EngineError error) throws Refusal, TooLongHere {
    return switch (EngineReply.of(status, error, target)) {
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
}
