package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import org.jspecify.annotations.Nullable;

/**
 * The form that a reply is to have, and the dialect in which it comes.
 *
 * @param promise null where nothing is promised: what is usual is made usual, the rest stays
 * @param model the public name
 * @param fingerprint stands for the engine and its settings where the engine's own fingerprint is
 *     missing or tells what is nobody's business
 * @param answer which answer to the request this is, from 0
 */
public record ReplyForm(
    Asked asked,
    Dialect dialect,
    @Nullable Promise promise,
    String model,
    String fingerprint,
    int answer) {

  boolean chat() {
    return asked.endpoint() == Endpoint.CHAT;
  }

  /**
   * Whether thoughts are looked for in the text; llama-server and the built-in engine have been
   * told where to put them.
   */
  boolean splitsThoughts() {
    return chat()
        && promise != null
        && promise.reasoning() != Reasoning.INLINE
        && !dialect.placesThoughtsAndCalls();
  }

  /**
   * Whether tool calls are looked for in the text; llama-server and the built-in engine parse those
   * of every model.
   */
  boolean parsesTools() {
    return chat()
        && promise != null
        && promise.tools()
        && asked.offersTools()
        && !dialect.placesThoughtsAndCalls();
  }

  /** Whether the hub looks for the stop strings. */
  boolean stops() {
    return asked.hubStops(dialect);
  }

  /** Whether a piece of text can be passed on without a look at it. */
  boolean textPasses() {
    return !splitsThoughts() && !parsesTools() && !stops();
  }

  /** Whether llama-server's {@code reasoning_content} can be passed on without a look at it. */
  boolean reasoningPasses() {
    return promise == null || promise.reasoning() == Reasoning.REASONING_CONTENT;
  }

  /** Whether the engine's own {@code system_fingerprint} is passed on. */
  boolean keepsFingerprint() {
    return dialect.placesThoughtsAndCalls() || dialect == Dialect.UNKNOWN;
  }
}
