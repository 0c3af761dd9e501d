package dev.flotilla.engine.grammar;

import java.util.OptionalInt;

/** Which texts are one token of a vocabulary, those included that have no text in an answer. */
@FunctionalInterface
public interface SingleTokens {
  /** Of a vocabulary in which nobody looks for marks. */
  SingleTokens NONE = _ -> OptionalInt.empty();

  /** The token that the whole of a text is; empty where it is none, or several. */
  OptionalInt of(String text);
}
