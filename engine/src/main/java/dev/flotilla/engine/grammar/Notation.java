package dev.flotilla.engine.grammar;

import tools.jackson.databind.JsonNode;

/** How values are written that a schema describes: as JSON, or in a model's own way. */
interface Notation {
  /** What may stand around commas, colons and within brackets. */
  Expr blank();

  /** What a text of any length is made of. */
  Expr character();

  /** The same for texts whose characters are counted: exactly one each time. */
  Expr counted();

  /** A text of such characters. */
  Expr text(Expr characters);

  /**
   * A text that an expression matches.
   *
   * @throws GrammarRefused where the expression can't be read, or not be held to in this notation
   */
  Expr pattern(String regex);

  /** The name of a function that is called. */
  Expr name(String name);

  /** The name of a field. */
  Expr key(String name);

  /** The name of any field. */
  Expr anyKey();

  /** Exactly this value. */
  Expr literal(JsonNode value);
}
