package dev.flotilla.hub.gateway;

import dev.flotilla.wire.openai.EngineError;

/** The engine found the prompt too long for it; another may have more room. */
final class TooLongHere extends Exception {
  private static final long serialVersionUID = 1;

  private final long promptTokens;
  private final long contextTokens;

  TooLongHere(EngineError.ContextOverflow overflow) {
    super("too long", null, false, false);
    this.promptTokens = overflow.promptTokens();
    this.contextTokens = overflow.contextTokens();
  }

  /** Tokens of the prompt as the engine counted, -1 where it does not say. */
  long promptTokens() {
    return promptTokens;
  }

  /** Tokens of context that the engine has, -1 where it does not say. */
  long contextTokens() {
    return contextTokens;
  }
}
