package dev.flotilla.engine.grammar;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Regular expressions as grammars: characters, classes, groups, alternatives, and repeats up to
 * {@value #REPEATS_MAX}. What looks around or back is refused.
 */
final class Regexes {
  private static final int REPEATS_MAX = 1_000;
  private static final int CHARS_MAX = 4_000;
  private static final int DEPTH_MAX = 50;

  private final int[] text;
  private final boolean inString;
  private int at;
  private int depth;

  private Regexes(String regex, boolean inString) {
    if (regex.length() > CHARS_MAX) {
      throw new GrammarRefused("the expression has more than " + CHARS_MAX + " characters");
    }
    this.text = regex.codePoints().toArray();
    this.inString = inString;
  }

  /** The whole answer. */
  static Map<String, Expr> rules(String regex) {
    String bare = regex.startsWith("^") ? regex.substring(1) : regex;
    return Map.of("root", new Regexes(withoutEnd(bare), false).whole());
  }

  /**
   * What stands between the quotes of a JSON string; a pattern without anchors may stand anywhere.
   */
  static Expr inString(String regex) {
    Expr any = new Expr.Repeat(Expr.others(0, 0x1F, '"', '"', '\\', '\\', 0x7F, 0x7F), 0, -1);
    boolean begins = regex.startsWith("^");
    String bare = begins ? regex.substring(1) : regex;
    String inner = withoutEnd(bare);
    Expr whole = new Regexes(inner, true).whole();
    return Expr.sequence(
        begins ? Expr.EMPTY : any, whole, inner.length() == bare.length() ? any : Expr.EMPTY);
  }

  private static String withoutEnd(String regex) {
    return regex.endsWith("$") && !regex.endsWith("\\$")
        ? regex.substring(0, regex.length() - 1)
        : regex;
  }

  private Expr whole() {
    Expr expr = alternatives();
    if (at < text.length) {
      throw refused("a ) without a (");
    }
    return expr;
  }

  private GrammarRefused refused(String what) {
    return new GrammarRefused("the expression has, at character " + (at + 1) + ", " + what);
  }

  private boolean sees(int c) {
    return at < text.length && text[at] == c;
  }

  private Expr alternatives() {
    depth++;
    if (depth > DEPTH_MAX) {
      throw refused("groups more than " + DEPTH_MAX + " levels deep");
    }
    List<Expr> options = new ArrayList<>();
    options.add(sequence());
    while (sees('|')) {
      at++;
      options.add(sequence());
    }
    depth--;
    return options.size() == 1 ? options.getFirst() : new Expr.Choice(options);
  }

  private Expr sequence() {
    List<Expr> parts = new ArrayList<>();
    while (at < text.length && !sees('|') && !sees(')')) {
      parts.add(repeated(one()));
    }
    return new Expr.Sequence(parts);
  }

  private Expr repeated(Expr part) {
    Expr whole = part;
    while (at < text.length) {
      int min;
      int max;
      if (sees('*')) {
        min = 0;
        max = -1;
        at++;
      } else if (sees('+')) {
        min = 1;
        max = -1;
        at++;
      } else if (sees('?')) {
        min = 0;
        max = 1;
        at++;
      } else if (sees('{')) {
        at++;
        min = number();
        max = min;
        if (sees(',')) {
          at++;
          max = sees('}') ? -1 : number();
        }
        if (!sees('}') || (max >= 0 && max < min)) {
          throw refused("a repeat that is none");
        }
        at++;
      } else {
        break;
      }
      if (sees('?')) {
        // As few as possible is a matter of search; the texts are the same.
        at++;
      }
      whole = new Expr.Repeat(whole, min, max);
    }
    return whole;
  }

  private int number() {
    int from = at;
    int value = 0;
    while (at < text.length && text[at] >= '0' && text[at] <= '9' && value <= REPEATS_MAX) {
      value = value * 10 + text[at] - '0';
      at++;
    }
    if (at == from || value > REPEATS_MAX) {
      throw refused("a repeat that is not from 0 to " + REPEATS_MAX);
    }
    return value;
  }

  private Expr one() {
    int c = text[at];
    at++;
    return switch (c) {
      case '(' -> group();
      case '[' -> plain(characters());
      case '.' -> plain(Expr.complement('\n', '\n'));
      case '\\' -> plain(escaped());
      case '^', '$' -> throw refused("an anchor that is not at the end");
      case '*', '+', '?' -> throw refused("a repeat of nothing");
      default -> literal(c);
    };
  }

  private Expr group() {
    if (sees('?')) {
      at++;
      if (!sees(':')) {
        throw refused("a group that looks around or has a name, which is not supported");
      }
      at++;
    }
    Expr inner = alternatives();
    if (!sees(')')) {
      throw refused("a ( without a )");
    }
    at++;
    return inner;
  }

  private Expr literal(int c) {
    String written = Character.toString(c);
    return Expr.text(inString && (c == '"' || c == '\\') ? "\\" + written : written);
  }

  /** A class; in a JSON string without what can't stand there as it is. */
  private Expr plain(int[] ranges) {
    if (!inString) {
      return new Expr.Chars(ranges);
    }
    if (ranges.length == 2 && ranges[0] == ranges[1]) {
      return literal(ranges[0]);
    }
    int[] outside = Expr.complement(ranges);
    int[] all = Arrays.copyOf(outside, outside.length + 8);
    int[] never = {0, 0x1F, '"', '"', '\\', '\\', 0x7F, 0x7F};
    System.arraycopy(never, 0, all, outside.length, never.length);
    return new Expr.Chars(Expr.complement(all));
  }

  private int[] escaped() {
    if (at == text.length) {
      throw refused("a \\ at its end");
    }
    int c = text[at];
    at++;
    return switch (c) {
      case 'd' -> new int[] {'0', '9'};
      case 'D' -> Expr.complement('0', '9');
      case 'w' -> new int[] {'0', '9', 'A', 'Z', '_', '_', 'a', 'z'};
      case 'W' -> Expr.complement('0', '9', 'A', 'Z', '_', '_', 'a', 'z');
      case 's' -> new int[] {'\t', '\r', ' ', ' '};
      case 'S' -> Expr.complement('\t', '\r', ' ', ' ');
      case 'n' -> new int[] {'\n', '\n'};
      case 'r' -> new int[] {'\r', '\r'};
      case 't' -> new int[] {'\t', '\t'};
      case 'u' -> hex(4);
      case 'x' -> hex(2);
      default -> {
        if (Character.isLetterOrDigit(c)) {
          throw refused("\\" + Character.toString(c) + ", which is not supported");
        }
        yield new int[] {c, c};
      }
    };
  }

  private int[] hex(int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++) {
      int digit = at < text.length ? Character.digit(text[at], 16) : -1;
      if (digit < 0) {
        throw refused("a character's number that is none");
      }
      value = value * 16 + digit;
      at++;
    }
    return new int[] {value, value};
  }

  private int[] characters() {
    boolean others = sees('^');
    if (others) {
      at++;
    }
    List<Integer> ranges = new ArrayList<>();
    boolean first = true;
    while (first || !sees(']')) {
      if (at >= text.length) {
        throw refused("a [ without a ]");
      }
      first = false;
      int[] from = member();
      if (from.length == 2
          && from[0] == from[1]
          && sees('-')
          && at + 1 < text.length
          && text[at + 1] != ']') {
        at++;
        int[] to = member();
        if (to.length != 2 || to[1] < from[0]) {
          throw refused("a range that is none");
        }
        from = new int[] {from[0], to[1]};
      }
      for (int each : from) {
        ranges.add(each);
      }
    }
    at++;
    int[] all = ranges.stream().mapToInt(Integer::intValue).toArray();
    return others ? Expr.complement(all) : all;
  }

  private int[] member() {
    int c = text[at];
    at++;
    return c == '\\' ? escaped() : new int[] {c, c};
  }
}
