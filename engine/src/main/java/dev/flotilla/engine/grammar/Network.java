package dev.flotilla.engine.grammar;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * A grammar as a network: nodes that take a byte of a range, nodes that take a whole token, nodes
 * that go two ways, and nodes that call a rule and go on behind it. Node 0 is the end of a rule.
 *
 * <p>Immutable once built. A grammar is input from outside: the number of its nodes is bounded, and
 * repeats are counted before they are written out.
 */
final class Network {
  /** Nodes of one grammar. */
  static final int NODES_MAX = 60_000;

  /** Parts within each other. */
  private static final int DEPTH_MAX = 200;

  static final int END = 0;

  /** Of a node: the lowest byte that it takes; or one of the two following. */
  private int[] low = new int[256];

  static final int SPLIT = -1;
  static final int CALL = -2;
  static final int TOKEN = -3;

  /** Of a node: the highest byte, the second way, the rule, or the token: below 0 all others. */
  private int[] high = new int[256];

  private int[] next = new int[256];
  private int size = 1;
  private final Map<String, Integer> names = new HashMap<>();
  private final int[] starts;
  private int depth;

  private Network(Map<String, Expr> rules) {
    rules.keySet().forEach(name -> names.put(name, names.size()));
    starts = new int[names.size()];
    low[END] = SPLIT;
    rules.forEach((name, expr) -> starts[number(name)] = add(expr, END));
  }

  /**
   * The network of some rules.
   *
   * @throws GrammarRefused where it is too large, or speaks of a rule that is not there
   */
  static Network of(Map<String, Expr> rules) {
    return new Network(rules);
  }

  int low(int node) {
    return low[node];
  }

  int high(int node) {
    return high[node];
  }

  int next(int node) {
    return next[node];
  }

  /** Whether a node that takes a token takes this one. */
  boolean takes(int node, int token) {
    return high[node] < 0 ? token != ~high[node] : token == high[node];
  }

  int start(int rule) {
    return starts[rule];
  }

  int number(String name) {
    Integer number = names.get(name);
    if (number == null) {
      throw new GrammarRefused("there is no rule '" + name + "'");
    }
    return number;
  }

  /** Whether a rule has an end: a text that it matches. One that always needs itself has none. */
  boolean hasEnd(int rule) {
    boolean[] ends = new boolean[size];
    ends[END] = true;
    boolean more = true;
    while (more) {
      more = false;
      // what follows a node mostly has a lower number, so one round finds most
      for (int node = 1; node < size; node++) {
        if (!ends[node] && leadsToEnd(node, ends)) {
          ends[node] = true;
          more = true;
        }
      }
    }
    return ends[starts[rule]];
  }

  private boolean leadsToEnd(int node, boolean[] ends) {
    return switch (low[node]) {
      case SPLIT -> ends[high[node]] || ends[next[node]];
      case CALL -> ends[starts[high[node]]] && ends[next[node]];
      case TOKEN -> ends[next[node]];
      default -> low[node] <= high[node] && ends[next[node]];
    };
  }

  private int add(Expr expr, int then) {
    depth++;
    if (depth > DEPTH_MAX) {
      throw new GrammarRefused("it is more than " + DEPTH_MAX + " levels deep");
    }
    int node =
        switch (expr) {
          case Expr.Text text -> bytes(text.bytes(), then);
          case Expr.Chars chars -> chars(chars.ranges(), then);
          case Expr.Token token ->
              node(TOKEN, token.others() ? ~token.token() : token.token(), then);
          case Expr.Sequence sequence -> {
            int at = then;
            for (int i = sequence.parts().size() - 1; i >= 0; i--) {
              at = add(sequence.parts().get(i), at);
            }
            yield at;
          }
          case Expr.Choice choice -> {
            if (choice.options().isEmpty()) {
              throw new GrammarRefused("a choice has nothing to choose from");
            }
            int at = add(choice.options().getLast(), then);
            for (int i = choice.options().size() - 2; i >= 0; i--) {
              at = node(SPLIT, at, add(choice.options().get(i), then));
            }
            yield at;
          }
          case Expr.Repeat repeat -> repeat(repeat, then);
          case Expr.Rule rule -> node(CALL, number(rule.name()), then);
        };
    depth--;
    return node;
  }

  private int bytes(byte[] bytes, int then) {
    int at = then;
    for (int i = bytes.length - 1; i >= 0; i--) {
      at = node(bytes[i] & 0xff, bytes[i] & 0xff, at);
    }
    return at;
  }

  private int chars(int[] ranges, int then) {
    int at = -1;
    for (int i = 0; i < ranges.length; i += 2) {
      for (int[] bytes : Utf8Ranges.of(ranges[i], ranges[i + 1])) {
        int one = then;
        for (int k = bytes.length - 2; k >= 0; k -= 2) {
          one = node(bytes[k], bytes[k + 1], one);
        }
        at = at < 0 ? one : node(SPLIT, at, one);
      }
    }
    if (at < 0) {
      // No character at all: a node that takes no byte.
      return node(1, 0, then);
    }
    return at;
  }

  private int repeat(Expr.Repeat repeat, int then) {
    int at = then;
    if (repeat.max() < 0) {
      int loop = node(SPLIT, then, then);
      int part = add(repeat.part(), loop);
      next[loop] = part;
      at = loop;
    } else {
      for (int i = repeat.min(); i < repeat.max(); i++) {
        at = node(SPLIT, then, add(repeat.part(), at));
      }
    }
    for (int i = 0; i < repeat.min(); i++) {
      at = add(repeat.part(), at);
    }
    return at;
  }

  private int node(int from, int to, int then) {
    if (size == NODES_MAX) {
      throw new GrammarRefused("it is too large: more than " + NODES_MAX + " steps");
    }
    if (size == low.length) {
      low = Arrays.copyOf(low, size * 2);
      high = Arrays.copyOf(high, size * 2);
      next = Arrays.copyOf(next, size * 2);
    }
    low[size] = from;
    high[size] = to;
    next[size] = then;
    size++;
    return size - 1;
  }
}
