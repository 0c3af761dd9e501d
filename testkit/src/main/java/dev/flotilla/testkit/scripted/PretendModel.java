package dev.flotilla.testkit.scripted;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A {@link ScriptedEngine} that passes for a real model of llama-server's: it goes on with what
 * everybody knows by heart, tells how likely its words are, writes by a grammar, and answers all
 * else {@linkplain LyingEngine#honest honestly}. At any time it may turn into another model, become
 * slow, or hang; what is asked from then on shows it.
 */
public final class PretendModel implements AutoCloseable {
  /** What it is at the moment. */
  private record Mind(boolean right, Duration perToken, Gate gate) {}

  private static Gate openGate() {
    Gate gate = Gate.closed();
    gate.open();
    return gate;
  }

  private final ScriptedEngine engine;
  private final AtomicReference<Mind> mind =
      new AtomicReference<>(new Mind(true, Duration.ZERO, openGate()));

  private PretendModel(String name, int contextTokens) {
    engine =
        ScriptedEngine.start()
            .model(name)
            .contextTokens(contextTokens)
            .always(ScriptedEngine.CHAT, this::play)
            .always(ScriptedEngine.COMPLETIONS, this::play);
  }

  /** One that serves a model of that name and is what it should be. */
  public static PretendModel named(String name, int contextTokens) {
    return new PretendModel(name, contextTokens);
  }

  /** The engine itself: what arrived, what is in flight, its death. */
  public ScriptedEngine engine() {
    return engine;
  }

  /** From now on its replies have the right form and rubbish in them. */
  public PretendModel turnsToRubbish() {
    mind.updateAndGet(now -> new Mind(false, now.perToken(), now.gate()));
    return this;
  }

  /** From now on its texts are cut into other tokens. */
  public PretendModel countsOtherwise() {
    engine.tokens(ScriptedEngine.Tokens.PER_BYTE);
    return this;
  }

  /** From now on each token of a stream takes so long. */
  public PretendModel takes(Duration perToken) {
    mind.updateAndGet(now -> new Mind(now.right(), perToken, now.gate()));
    return this;
  }

  /** From now on nothing is answered before the gate is open. */
  public PretendModel waitsFor(Gate gate) {
    mind.updateAndGet(now -> new Mind(now.right(), now.perToken(), gate));
    return this;
  }

  private void play(Exchange exchange) throws IOException {
    Mind now = mind.get();
    exchange.await(now.gate());
    JsonNode request = exchange.request().json();
    boolean chat = exchange.request().path().contains("/chat/");
    int promptTokens = engine.promptTokens(request);
    PlannedReply reply =
        !now.right() && ByHeart.isAskedBy(request, chat)
            ? ByHeart.told(engine.model(), request, promptTokens, false)
            : new HonestAnswers(engine.model(), engine.contextTokens())
                .to(request, chat, promptTokens);
    // What has to be JSON, or to end at a stop string, is and does: the words alone are wrong.
    if (!now.right() && HonestAnswers.isPlain(request)) {
      reply.eachMessage(message -> {
        String text = message.path("content").asString("");
        if (!text.isEmpty()) {
          message.put("content", ByHeart.soup(text) + " ");
        }
      });
    }
    if (reply.streamed && !now.perToken().isZero()) {
      slowly(exchange, reply, now.perToken());
    } else {
      reply.write(exchange);
    }
  }

  private static void slowly(Exchange exchange, PlannedReply reply, Duration perToken)
      throws IOException {
    exchange.startStream();
    for (ObjectNode each : reply.objects) {
      exchange.pause(perToken);
      exchange.event(each.toString());
    }
    exchange.event("[DONE]");
    exchange.endStream();
  }

  @Override
  public void close() {
    engine.close();
  }
}
