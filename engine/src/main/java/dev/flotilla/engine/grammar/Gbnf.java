package dev.flotilla.engine.grammar;

import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Grammars in llama.cpp's notation, GBNF ({@code grammars/README.md} and {@code llama-grammar.cpp}
 * there): rules {@code name ::= …} of texts, classes of characters, dots, names and groups, with
 * repeats and alternatives; {@code #} begins a comment. The answer is what the rule {@code root}
 * says.
 *
 * <p>Marks for whole tokens: {@code <[123]>} by the number, {@code <think>} by a text that is one
 * token, and with a {@code !} before them any other token.
 *
 * <p>Refused, each with its line and column: what can't be read; names without a rule, and with
 * two; rules that begin with themselves, which llama.cpp refuses too; tokens that are not in the
 * vocabulary, and those that end an answer, which come where the grammar's end is; and what is
 * larger than the limits.
 */
final class Gbnf {
  static final int RULES_MAX = 4_000;

  /** Groups within each other. */
  static final int DEPTH_MAX = 30;

  private static final int REPEATS_IN_A_ROW_MAX = 4;

  /** The same limit as llama.cpp's. */
  static final int REPEATS_MAX = 2_000;

  private static final String ROOT = "root";

  /** Characters of a mark that names a token. */
  private static final int MARK_CHARS_MAX = 256;

  private final int[] text;
  private final TokenBytes tokens;
  private final SingleTokens single;
  private final Map<String, Expr> rules = new LinkedHashMap<>();

  /** Of each rule, where it is defined. */
  private final Map<String, Integer> places = new LinkedHashMap<>();

  /** Of each name that is used, where it was first. */
  private final Map<String, Integer> uses = new LinkedHashMap<>();

  private int at;
  private int depth;

  private Gbnf(String grammar, TokenBytes tokens, SingleTokens single) {
    text = grammar.codePoints().toArray();
    this.tokens = tokens;
    this.single = single;
  }

  /** The rules by their names, over a vocabulary whose tokens they may name. */
  static Map<String, Expr> rules(String grammar, TokenBytes tokens, SingleTokens single) {
    return new Gbnf(grammar, tokens, single).read();
  }

  private Map<String, Expr> read() {
    blanks(true);
    while (at < text.length) {
      rule();
    }
    uses.forEach((name, place) -> {
      if (!rules.containsKey(name)) {
        throw refused(place, "the rule " + Names.shown(name) + " is used and is nowhere defined");
      }
    });
    if (!rules.containsKey(ROOT)) {
      throw new GrammarRefused("it has no rule 'root', with which an answer begins");
    }
    LeftRecursion.find(rules)
        .ifPresent(name -> {
          throw refused(
              places.getOrDefault(name, 0),
              "the rule " + Names.shown(name) + " begins with itself, so no text could be begun");
        });
    return rules;
  }

  private void rule() {
    int from = at;
    String name = name();
    blanks(false);
    if (!sees(':') || !seesAt(1, ':') || !seesAt(2, '=')) {
      throw refused(at, "'::=' was expected behind the rule's name");
    }
    at += 3;
    blanks(true);
    if (rules.size() == RULES_MAX) {
      throw refused(from, "there are more than " + RULES_MAX + " rules");
    }
    places.put(name, from);
    if (rules.put(name, alternatives(false)) != null) {
      throw refused(from, "the rule " + Names.shown(name) + " is defined twice");
    }
    if (at < text.length && !sees('\n') && !sees('\r')) {
      throw refused(at, "a new line was expected, not " + character());
    }
    blanks(true);
  }

  private String name() {
    int from = at;
    while (at < text.length && isWord(text[at])) {
      at++;
    }
    if (at == from) {
      throw refused(at, "a name was expected, not " + character());
    }
    return new String(text, from, at - from);
  }

  private static boolean isWord(int c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  }

  /** Blanks and comments; new lines too within a group, and behind a mark that wants more. */
  private void blanks(boolean lines) {
    while (at < text.length) {
      int c = text[at];
      if (c == '#') {
        while (at < text.length && !sees('\n') && !sees('\r')) {
          at++;
        }
      } else if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        at++;
      } else {
        return;
      }
    }
  }

  private boolean sees(int c) {
    return seesAt(0, c);
  }

  private boolean seesAt(int ahead, int c) {
    return at + ahead < text.length && text[at + ahead] == c;
  }

  private Expr alternatives(boolean grouped) {
    List<Expr> options = new ArrayList<>();
    options.add(sequence(grouped));
    while (sees('|')) {
      at++;
      blanks(true);
      options.add(sequence(grouped));
    }
    return options.size() == 1 ? options.getFirst() : new Expr.Choice(options);
  }

  private Expr sequence(boolean grouped) {
    List<Expr> parts = new ArrayList<>();
    int repeats = 0;
    while (isRepeat() || isPart()) {
      if (isRepeat()) {
        repeats++;
        if (parts.isEmpty() || repeats > REPEATS_IN_A_ROW_MAX) {
          throw refused(at, parts.isEmpty() ? "a repeat of nothing" : "too many repeats in a row");
        }
        parts.add(repeated(parts.removeLast(), grouped));
      } else {
        repeats = 0;
        parts.add(one());
      }
      blanks(grouped);
    }
    return new Expr.Sequence(parts);
  }

  private boolean isPart() {
    return at < text.length && (isWord(text[at]) || "\"[(.<!".indexOf(text[at]) >= 0);
  }

  private boolean isRepeat() {
    return sees('*') || sees('+') || sees('?') || sees('{');
  }

  private Expr one() {
    int c = text[at];
    return switch (c) {
      case '"' -> literal();
      case '[' -> characters();
      case '(' -> group();
      case '.' -> {
        at++;
        yield Expr.others();
      }
      case '<', '!' -> token();
      default -> {
        int from = at;
        String name = name();
        uses.putIfAbsent(name, from);
        yield new Expr.Rule(name);
      }
    };
  }

  private Expr group() {
    int from = at;
    depth++;
    if (depth > DEPTH_MAX) {
      throw refused(at, "groups more than " + DEPTH_MAX + " levels deep");
    }
    at++;
    blanks(true);
    Expr inner = alternatives(true);
    if (!sees(')')) {
      throw at < text.length
          ? refused(at, "')' was expected, not " + character())
          : refused(from, "a group that has no end");
    }
    at++;
    depth--;
    return inner;
  }

  private Expr token() {
    int from = at;
    boolean others = sees('!');
    if (others) {
      at++;
    }
    if (!sees('<')) {
      throw refused(at, "'<' was expected, not " + character());
    }
    int mark = at;
    while (at < text.length && !sees('>') && at - mark < MARK_CHARS_MAX) {
      at++;
    }
    if (!sees('>')) {
      throw refused(mark, "a mark for a token that has no end");
    }
    at++;
    String name = new String(text, mark, at - mark);
    int token = name.startsWith("<[") ? numbered(name, mark) : named(name, mark);
    if (tokens.isEnd(token)) {
      throw refused(from, "a token that ends an answer, which comes where the grammar ends");
    }
    return new Expr.Token(token, others);
  }

  private int numbered(String name, int from) {
    String digits = name.substring(2, Math.max(2, name.length() - 2));
    boolean number = name.endsWith("]>") && digits.matches("[0-9]{1,9}");
    if (!number || Integer.parseInt(digits) >= tokens.vocabulary()) {
      throw refused(from, "no number of a token, which are 0 to " + (tokens.vocabulary() - 1));
    }
    return Integer.parseInt(digits);
  }

  private int named(String name, int from) {
    return single
        .of(name)
        .orElseThrow(() -> refused(from, Names.shown(name) + " is not one token of this model"));
  }

  private Expr literal() {
    int from = at;
    at++;
    StringBuilder literal = new StringBuilder();
    while (!sees('"')) {
      if (at >= text.length) {
        throw refused(from, "a text that has no end");
      }
      literal.appendCodePoint(written());
    }
    at++;
    return Expr.text(literal.toString());
  }

  private Expr characters() {
    int from = at;
    at++;
    boolean others = sees('^');
    if (others) {
      at++;
    }
    List<Integer> ranges = new ArrayList<>();
    while (!sees(']')) {
      if (at >= text.length) {
        throw refused(from, "a class that has no end");
      }
      int place = at;
      int first = written();
      int last = first;
      if (sees('-') && !seesAt(1, ']')) {
        at++;
        if (at >= text.length) {
          throw refused(from, "a class that has no end");
        }
        last = written();
      }
      if (last < first) {
        throw refused(place, "a range that runs backwards");
      }
      ranges.add(first);
      ranges.add(last);
    }
    at++;
    if (ranges.isEmpty()) {
      throw refused(from, "a class without characters");
    }
    int[] all = ranges.stream().mapToInt(Integer::intValue).toArray();
    return new Expr.Chars(others ? Expr.complement(all) : all);
  }

  /** One character of a text or a class. */
  private int written() {
    int from = at;
    int c = text[at];
    at++;
    if (c != '\\') {
      return c;
    }
    if (at >= text.length) {
      throw refused(from, "a \\ at the end");
    }
    int escaped = text[at];
    at++;
    return switch (escaped) {
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case '"', '\\', '[', ']' -> escaped;
      case 'x' -> hex(from, 2);
      case 'u' -> hex(from, 4);
      case 'U' -> hex(from, 8);
      default -> throw refused(from, "an escape that there is not");
    };
  }

  private int hex(int from, int digits) {
    long value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = at < text.length ? Character.digit(text[at], 16) : -1;
      if (digit < 0) {
        throw refused(from, "a character's number that has not " + digits + " digits");
      }
      value = value * 16 + digit;
      at++;
    }
    boolean half = value >= Character.MIN_SURROGATE && value <= Character.MAX_SURROGATE;
    if (value > Character.MAX_CODE_POINT || half) {
      throw refused(from, "the number of no character");
    }
    return (int) value;
  }

  private Expr repeated(Expr part, boolean grouped) {
    int from = at;
    int c = text[at];
    at++;
    return switch (c) {
      case '*' -> new Expr.Repeat(part, 0, -1);
      case '+' -> new Expr.Repeat(part, 1, -1);
      case '?' -> new Expr.Repeat(part, 0, 1);
      default -> counted(part, from, grouped);
    };
  }

  private Expr counted(Expr part, int from, boolean grouped) {
    blanks(grouped);
    int min = number(from);
    int max = min;
    blanks(grouped);
    if (sees(',')) {
      at++;
      blanks(grouped);
      max = sees('}') ? -1 : number(from);
      blanks(grouped);
    }
    if (!sees('}')) {
      throw refused(at, "'}' was expected, not " + character());
    }
    at++;
    if (max >= 0 && max < min) {
      throw refused(from, "a repeat whose most is less than its least");
    }
    return new Expr.Repeat(part, min, max);
  }

  private int number(int from) {
    int first = at;
    int value = 0;
    while (at < text.length && text[at] >= '0' && text[at] <= '9' && value <= REPEATS_MAX) {
      value = value * 10 + text[at] - '0';
      at++;
    }
    if (at == first || value > REPEATS_MAX) {
      throw refused(from, "a repeat that is not from 0 to " + REPEATS_MAX);
    }
    return value;
  }

  private String character() {
    return at < text.length ? "'" + Character.toString(text[at]) + "'" : "the end";
  }

  private GrammarRefused refused(int place, String what) {
    int line = 1;
    int column = 1;
    for (int i = 0; i < place; i++) {
      boolean lineEnds = text[i] == '\n';
      line += lineEnds ? 1 : 0;
      column = lineEnds ? 1 : column + 1;
    }
    return new GrammarRefused("line " + line + ", column " + column + ": " + what);
  }
}
