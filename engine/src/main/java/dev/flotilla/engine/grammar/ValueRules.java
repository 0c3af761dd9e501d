package dev.flotilla.engine.grammar;

import java.util.LinkedHashMap;
import java.util.Map;

/** The rules of values of any kind, whatever their notation; schemas are made of these. */
final class ValueRules {
  /** The rule of any text. */
  static final String STRING = "string";

  /** The rule of what texts are made of. */
  static final String CHARACTER = "char";

  /** Digits of a number's part. */
  private static final int DIGITS_MAX = 16;

  private static final Expr DIGIT = Expr.chars('0', '9');
  private static final Expr WHOLE =
      Expr.choice(
          Expr.text("0"),
          Expr.sequence(Expr.chars('1', '9'), new Expr.Repeat(DIGIT, 0, DIGITS_MAX - 1)));
  private static final Expr FRACTION =
      Expr.sequence(Expr.text("."), new Expr.Repeat(DIGIT, 1, DIGITS_MAX));
  private static final Expr EXPONENT =
      Expr.sequence(
          Expr.chars('e', 'e', 'E', 'E'),
          Expr.optional(Expr.chars('+', '+', '-', '-')),
          new Expr.Repeat(DIGIT, 1, 3));

  private ValueRules() {}

  /** The rules that schemas share: of blanks, texts, numbers, and any value. */
  static Map<String, Expr> of(Notation notation) {
    Map<String, Expr> rules = new LinkedHashMap<>();
    rules.put("blank", notation.blank());
    rules.put(CHARACTER, notation.character());
    rules.put(STRING, notation.text(new Expr.Repeat(rule(CHARACTER), 0, -1)));
    rules.put("integer", Expr.sequence(Expr.optional(Expr.text("-")), WHOLE));
    rules.put(
        "number", Expr.sequence(rule("integer"), Expr.optional(FRACTION), Expr.optional(EXPONENT)));
    rules.put(
        "value",
        Expr.choice(
            rule("object"),
            rule("array"),
            rule(STRING),
            rule("number"),
            Expr.text("true"),
            Expr.text("false"),
            Expr.text("null")));
    Expr field = Expr.sequence(notation.anyKey(), separated(":"), rule("value"));
    rules.put("object", enclosed("{", list(field, 0, -1), "}"));
    rules.put("array", enclosed("[", list(rule("value"), 0, -1), "]"));
    return rules;
  }

  /** An object of two fields, each with its name. */
  static Expr object(Expr first, Expr second) {
    return enclosed("{", Expr.sequence(first, separated(","), second, rule("blank")), "}");
  }

  static Expr rule(String name) {
    return new Expr.Rule(name);
  }

  /** A mark, maybe with blanks around it. */
  static Expr separated(String mark) {
    return Expr.sequence(rule("blank"), Expr.text(mark), rule("blank"));
  }

  static Expr enclosed(String open, Expr inner, String close) {
    return Expr.sequence(Expr.text(open), rule("blank"), inner, Expr.text(close));
  }

  /** Items apart by commas, each list that is not empty with a blank behind it. */
  static Expr list(Expr item, int min, int max) {
    if (max == 0) {
      return Expr.EMPTY;
    }
    Expr more =
        new Expr.Repeat(
            Expr.sequence(separated(","), item), Math.max(0, min - 1), max < 0 ? -1 : max - 1);
    Expr some = Expr.sequence(item, more, rule("blank"));
    return min == 0 ? Expr.optional(some) : some;
  }
}
