package dev.flotilla.testkit.scripted;

import java.io.IOException;
import java.util.function.Consumer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A {@link ScriptedEngine} that answers honestly, by the API as it is written, or in all but one
 * thing: {@code LyingEngine.telling(Lie.CALLS_AS_PROSE, 512)}.
 */
public final class LyingEngine {
  /** The model's name. */
  public static final String MODEL = "honest";

  private LyingEngine() {}

  /** An engine that serves {@value #MODEL} and keeps to the API. */
  public static ScriptedEngine honest(int contextTokens) {
    return engine(contextTokens, _ -> {}, _ -> {});
  }

  /** An honest engine whose template knows nothing of thoughts: asked for one, it gives none. */
  public static ScriptedEngine thoughtless(int contextTokens) {
    return engine(contextTokens, asked -> asked.remove("chat_template_kwargs"), _ -> {});
  }

  /** An engine that serves {@value #MODEL} and lies in that way. */
  public static ScriptedEngine telling(Lie lie, int contextTokens) {
    return engine(contextTokens, lie::ask, lie::tell);
  }

  /** An engine that makes vectors of texts, honestly. */
  public static ScriptedEngine embedding(int contextTokens) {
    return embedding(contextTokens, _ -> {}, _ -> {});
  }

  /** An engine that makes vectors of texts and lies in that way. */
  public static ScriptedEngine embedding(EmbeddingLie lie, int contextTokens) {
    return embedding(contextTokens, lie::ask, lie::tell);
  }

  private static ScriptedEngine embedding(
      int contextTokens, Consumer<ObjectNode> ask, Consumer<PlannedReply> tell) {
    return ScriptedEngine.start()
        .model(MODEL)
        .contextTokens(contextTokens)
        .always(
            ScriptedEngine.EMBEDDINGS,
            exchange -> {
              JsonNode request = exchange.request().json();
              if (request instanceof ObjectNode asked) {
                ask.accept(asked);
              }
              PlannedReply reply =
                  request.isObject() && !request.path("model").asString("").equals(MODEL)
                      ? HonestAnswers.refusal(404, "model_not_found", "there is no such model")
                      : new HonestEmbeddings(exchange.engine()).to(request);
              tell.accept(reply);
              reply.write(exchange);
            });
  }

  private static ScriptedEngine engine(
      int contextTokens, Consumer<ObjectNode> ask, Consumer<PlannedReply> tell) {
    Script script = exchange -> answer(exchange, ask, tell);
    return ScriptedEngine.start()
        .model(MODEL)
        .contextTokens(contextTokens)
        .always(ScriptedEngine.CHAT, script)
        .always(ScriptedEngine.COMPLETIONS, script);
  }

  private static void answer(
      Exchange exchange, Consumer<ObjectNode> ask, Consumer<PlannedReply> tell) throws IOException {
    JsonNode request = exchange.request().json();
    if (request instanceof ObjectNode asked) {
      ask.accept(asked);
    }
    ScriptedEngine engine = exchange.engine();
    PlannedReply reply =
        new HonestAnswers(engine.model(), engine.contextTokens())
            .to(
                request,
                exchange.request().path().contains("/chat/"),
                engine.promptTokens(request));
    tell.accept(reply);
    reply.write(exchange);
  }
}
