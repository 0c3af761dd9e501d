package dev.flotilla.engine.grammar;

import dev.flotilla.engine.sample.TokenMask;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;

/**
 * Makes grammars of what requests ask for, and keeps the last {@value #KEPT_MAX} with all that was
 * found out about them. Compiling is done by the thread that asks; safe for many.
 */
public final class Grammars {
  private static final int KEPT_MAX = 8;
  private static final String ROOT = "root";
  private static final String BETWEEN = "between";

  /** Characters of one schema or expression. */
  private static final int CHARS_MAX = 200_000;

  private final TokenBytes tokens;
  private final byte[][] pieces;
  private final Executor aside;
  private final Map<String, Automaton> kept =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Automaton> eldest) {
          return size() > KEPT_MAX;
        }
      };

  /**
   * For one vocabulary.
   *
   * @param pieces by token: its bytes, empty where it is no text
   * @param ends the tokens that end an answer
   * @param aside where masks are made beside the engine's steps
   */
  public Grammars(byte[][] pieces, int[] ends, Executor aside) {
    this.pieces = pieces;
    this.tokens = new TokenBytes(pieces, ends);
    this.aside = aside;
  }

  /**
   * JSON that a schema allows.
   *
   * @throws GrammarRefused where the schema can't be held to
   */
  public Supplier<TokenMask> schema(JsonNode schema) {
    return form("schema " + schema, ROOT, () -> JsonSchemas.rules(schema));
  }

  /** Any JSON object. */
  public Supplier<TokenMask> anyObject() {
    return form("object", ROOT, JsonSchemas::anyObject);
  }

  /**
   * What an expression matches, from its first character to its last.
   *
   * @throws GrammarRefused where it can't be read
   */
  public Supplier<TokenMask> regex(String regex) {
    return form("regex " + regex, ROOT, () -> Regexes.rules(regex));
  }

  /**
   * What llama.cpp's grammar allows, its rule {@code root}.
   *
   * @throws GrammarRefused where it can't be read or held to, with line and column
   */
  public Supplier<TokenMask> gbnf(String grammar) {
    return form("gbnf " + grammar, ROOT, () -> Gbnf.rules(grammar));
  }

  /** One of these texts. */
  public Supplier<TokenMask> choice(List<String> texts) {
    List<Expr> options = new ArrayList<>();
    texts.forEach(each -> options.add(Expr.text(each)));
    return form(
        "choice " + String.join("\u0000", texts),
        ROOT,
        () -> Map.of(ROOT, new Expr.Choice(options)));
  }

  /**
   * JSON that a schema allows, between two texts, once or several times.
   *
   * @param again what stands between one and the next; empty where there is one
   * @throws GrammarRefused where the schema can't be held to
   */
  public Supplier<TokenMask> between(String before, JsonNode schema, String again, String after) {
    return form(
        String.join("\u0000", "between ", before, again, after, schema.toString()),
        BETWEEN,
        () -> {
          Map<String, Expr> rules = JsonSchemas.rules(schema);
          Expr inner = new Expr.Rule(ROOT);
          Expr more =
              again.isEmpty()
                  ? Expr.EMPTY
                  : new Expr.Repeat(Expr.sequence(Expr.text(again), inner), 0, -1);
          rules.put(BETWEEN, Expr.sequence(Expr.text(before), inner, more, Expr.text(after)));
          return rules;
        });
  }

  private Supplier<TokenMask> form(String key, String first, Supplier<Map<String, Expr>> rules) {
    if (key.length() > CHARS_MAX) {
      throw new GrammarRefused("it has more than " + CHARS_MAX + " characters");
    }
    Automaton automaton;
    synchronized (kept) {
      automaton = kept.get(key);
    }
    if (automaton == null || automaton.full()) {
      Map<String, Expr> all = rules.get();
      Network network = Network.of(all);
      if (!network.hasEnd(network.number(first))) {
        throw new GrammarRefused("no text fits it");
      }
      automaton = new Automaton(network, network.number(first), tokens);
      automaton.mask(automaton.start());
      synchronized (kept) {
        kept.put(key, automaton);
      }
    }
    Automaton ready = automaton;
    return () -> new Matcher(ready, pieces, aside);
  }
}
