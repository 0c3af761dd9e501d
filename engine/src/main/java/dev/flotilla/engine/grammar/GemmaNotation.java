package dev.flotilla.engine.grammar;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/**
 * As Gemma writes the arguments of a call: {@code {key:<escape>text<escape>,other:[1,2]}}, without
 * blanks and without quotes; what is no text is written as in JSON. The mark around texts is one
 * token where the vocabulary has it.
 */
final class GemmaNotation implements Notation {
  /** What stands before and behind a text. */
  static final String ESCAPE = "<escape>";

  /** Characters that end a key, or could. */
  private static final String NO_KEY = ":,{}[]<>\"\n";

  private static final int KEY_CHARS_MAX = 64;

  private final Expr escape;

  /** With the mark around texts as the vocabulary has it. */
  GemmaNotation(Expr escape) {
    this.escape = escape;
  }

  @Override
  public Expr blank() {
    return Expr.EMPTY;
  }

  /** Any, but none that could begin the mark. */
  @Override
  public Expr character() {
    return Expr.choice(
        counted(),
        Expr.sequence(Expr.text("<"), Expr.others('<', '<', ESCAPE.charAt(1), ESCAPE.charAt(1))));
  }

  /** A text whose characters are counted goes without any that could begin the mark. */
  @Override
  public Expr counted() {
    return Expr.others('<', '<');
  }

  @Override
  public Expr text(Expr characters) {
    return Expr.sequence(escape, characters, escape);
  }

  @Override
  public Expr pattern(String regex) {
    throw new GrammarRefused("a pattern can't be held to in the calls of this model");
  }

  @Override
  public Expr name(String name) {
    return bare(name, "function");
  }

  @Override
  public Expr key(String name) {
    return bare(name, "field");
  }

  private static Expr bare(String name, String of) {
    boolean blanks = !name.equals(name.strip()) || name.isEmpty();
    if (blanks || name.chars().anyMatch(c -> NO_KEY.indexOf(c) >= 0)) {
      throw new GrammarRefused(
          "'" + name + "' can't be the name of a " + of + " in the calls of this model");
    }
    return Expr.text(name);
  }

  @Override
  public Expr anyKey() {
    int[] ranges = NO_KEY.chars().flatMap(c -> IntStream.of(c, c)).toArray();
    return new Expr.Repeat(Expr.others(ranges), 1, KEY_CHARS_MAX);
  }

  @Override
  public Expr literal(JsonNode value) {
    List<Expr> parts = new ArrayList<>();
    if (value.isString()) {
      if (value.stringValue().contains(ESCAPE)) {
        throw new GrammarRefused("a text with " + ESCAPE + " in it");
      }
      return text(Expr.text(value.stringValue()));
    }
    if (value.isArray()) {
      value.forEach(each -> parts.add(literal(each)));
      return list("[", parts, "]");
    }
    if (value.isObject()) {
      for (Map.Entry<String, JsonNode> field : value.properties()) {
        parts.add(Expr.sequence(key(field.getKey()), Expr.text(":"), literal(field.getValue())));
      }
      return list("{", parts, "}");
    }
    return Expr.text(value.toString());
  }

  private static Expr list(String open, List<Expr> parts, String close) {
    List<Expr> all = new ArrayList<>();
    all.add(Expr.text(open));
    for (Expr part : parts) {
      if (all.size() > 1) {
        all.add(Expr.text(","));
      }
      all.add(part);
    }
    all.add(Expr.text(close));
    return new Expr.Sequence(all);
  }
}
