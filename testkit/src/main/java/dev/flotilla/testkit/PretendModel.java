package dev.flotilla.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A {@link ScriptedEngine} that passes for a real model of llama-server's: it goes on with what
 * everybody knows by heart, tells how likely its words are, writes by a grammar, and answers all
 * else {@linkplain LyingEngine#honest honestly}. At any time it may turn into another model, become
 * slow, or hang; what is asked from then on shows it.
 */
public final class PretendModel implements AutoCloseable {
  private static final Map<String, String> BY_HEART =
      Map.ofEntries(
          Map.entry("7, 8,", "9"),
          Map.entry("F, G,", "H"),
          Map.entry("Thursday,", "Friday"),
          Map.entry("May,", "June"),
          Map.entry("the lazy", "dog"),
          Map.entry("upon a", "time"),
          Map.entry("red blue", "green"),
          Map.entry("left -", "right"),
          Map.entry("return a +", "b"),
          Map.entry("that is the", "question"),
          Map.entry("States of", "America"),
          Map.entry("Romeo and", "Juliet"));

  private static final List<String> SOUP = List.of("zorg", "qip", "umtra", "vex", "ploo", "hask");
  private static final double KNOWN = -0.2;
  private static final double UNHEARD_OF = -14;

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
    if (!chat && request.path("logprobs").isIntegralNumber()) {
      exchange.json(200, told(exchange, request, now).toString());
      return;
    }
    PlannedReply reply =
        new HonestAnswers(engine.model(), engine.contextTokens())
            .to(request, chat, engine.promptTokens(request));
    if (!now.right()) {
      reply.eachMessage(message -> {
        if (message.path("content").isString()
            && !message.path("content").stringValue().isEmpty()) {
          message.put("content", soup(message.path("content").stringValue()) + " ");
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

  /** A completion with the probabilities of its tokens, as llama-server has them. */
  private ObjectNode told(Exchange exchange, JsonNode request, Mind now) {
    String prompt = request.path("prompt").asString("");
    String grammar = request.path("grammar").asString("");
    List<String> words =
        grammar.isEmpty()
            ? List.of(" " + goOn(prompt, now.right()))
            : List.of(literal(grammar).split("(?= )"));
    double each = now.right() ? KNOWN : UNHEARD_OF;
    ObjectNode body = ReceivedRequest.JSON.createObjectNode();
    body.put("id", "cmpl-pretended").put("object", "text_completion").put("created", 1_767_225_600);
    body.put("model", engine.model());
    ObjectNode choice = body.putArray("choices").addObject().put("index", 0);
    choice.put("text", String.join("", words));
    ArrayNode content = choice.putObject("logprobs").putArray("content");
    for (String word : words) {
      ObjectNode token = option(content.addObject(), word, each);
      ArrayNode top = token.putArray("top_logprobs");
      option(top.addObject(), word, each);
      option(top.addObject(), " else", each - 3);
    }
    choice.put("finish_reason", "length");
    int promptTokens = exchange.engine().promptTokens(request);
    body.putObject("usage")
        .put("prompt_tokens", promptTokens)
        .put("completion_tokens", words.size())
        .put("total_tokens", promptTokens + words.size());
    return body;
  }

  private static ObjectNode option(ObjectNode token, String word, double logprob) {
    token.put("token", word).put("logprob", logprob);
    ArrayNode bytes = token.putArray("bytes");
    for (byte one : word.getBytes(UTF_8)) {
      bytes.add(one & 0xff);
    }
    return token;
  }

  private static String goOn(String prompt, boolean right) {
    return right
        ? BY_HEART.entrySet().stream()
            .filter(each -> prompt.endsWith(each.getKey()))
            .findFirst()
            .map(Map.Entry::getValue)
            .orElse("and")
        : soup(prompt);
  }

  private static String soup(String of) {
    return SOUP.get(new Random(of.hashCode()).nextInt(SOUP.size()));
  }

  /** The text that a grammar of one literal demands. */
  private static String literal(String grammar) {
    return ReceivedRequest.JSON.readTree(grammar.substring(grammar.indexOf('"'))).asString("");
  }

  @Override
  public void close() {
    engine.close();
  }
}
