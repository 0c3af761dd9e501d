package dev.flotilla.engine.grammar;

/** A schema, expression or grammar that can't be used; the message says what and where. */
public final class GrammarRefused extends RuntimeException {
  /** What is wrong, in words for whoever wrote it. */
  public GrammarRefused(String message) {
    super(message);
  }
}
