package dev.flotilla.engine.grammar;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * JSON (RFC 8259). Blanks are bounded, so that no answer is spent on them: none, one, or a new line
 * with at most {@value #INDENT_MAX} blanks.
 */
final class JsonNotation implements Notation {
  private static final int INDENT_MAX = 20;

  private static final Expr BLANK =
      Expr.choice(
          Expr.EMPTY,
          Expr.text(" "),
          Expr.sequence(
              Expr.text("\n"), new Expr.Repeat(Expr.chars(' ', ' ', '\t', '\t'), 0, INDENT_MAX)));

  private static final Expr HEX = Expr.chars('0', '9', 'a', 'f', 'A', 'F');
  private static final Expr CHARACTER =
      Expr.choice(
          Expr.others(0, 0x1F, '"', '"', '\\', '\\', 0x7F, 0x7F),
          Expr.sequence(
              Expr.text("\\"),
              Expr.choice(
                  Expr.chars(
                      '"', '"', '\\', '\\', '/', '/', 'b', 'b', 'f', 'f', 'n', 'n', 'r', 'r', 't',
                      't'),
                  Expr.sequence(Expr.text("u"), new Expr.Repeat(HEX, 4, 4)))));

  @Override
  public Expr blank() {
    return BLANK;
  }

  @Override
  public Expr character() {
    return CHARACTER;
  }

  @Override
  public Expr counted() {
    return new Expr.Rule(ValueRules.CHARACTER);
  }

  @Override
  public Expr text(Expr characters) {
    return Expr.sequence(Expr.text("\""), characters, Expr.text("\""));
  }

  @Override
  public Expr pattern(String regex) {
    return text(Regexes.inString(regex));
  }

  @Override
  public Expr name(String name) {
    return key(name);
  }

  @Override
  public Expr key(String name) {
    return literal(JsonNodeFactory.instance.stringNode(name));
  }

  @Override
  public Expr anyKey() {
    return new Expr.Rule(ValueRules.STRING);
  }

  @Override
  public Expr literal(JsonNode value) {
    return Expr.text(value.toString());
  }
}
