package dev.flotilla.testkit;

import java.io.IOException;
import java.util.Optional;
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
    return engine(contextTokens, Optional.empty());
  }

  /** An engine that serves {@value #MODEL} and lies in that way. */
  public static ScriptedEngine telling(Lie lie, int contextTokens) {
    return engine(contextTokens, Optional.of(lie));
  }

  private static ScriptedEngine engine(int contextTokens, Optional<Lie> lie) {
    Script script = exchange -> answer(exchange, lie);
    return ScriptedEngine.start()
        .model(MODEL)
        .contextTokens(contextTokens)
        .always(ScriptedEngine.CHAT, script)
        .always(ScriptedEngine.COMPLETIONS, script);
  }

  private static void answer(Exchange exchange, Optional<Lie> lie) throws IOException {
    JsonNode request = exchange.request().json();
    if (request instanceof ObjectNode asked) {
      lie.ifPresent(each -> each.ask(asked));
    }
    ScriptedEngine engine = exchange.engine();
    PlannedReply reply =
        new HonestAnswers(engine.model(), engine.contextTokens())
            .to(
                request,
                exchange.request().path().contains("/chat/"),
                engine.promptTokens(request));
    lie.ifPresent(each -> each.tell(reply));
    reply.write(exchange);
  }
}
