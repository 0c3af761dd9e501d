package dev.flotilla.engine.grammar;

import dev.flotilla.engine.sample.TokenMask;
import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.Executor;
import java.util.function.BinaryOperator;
import java.util.function.Supplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Makes grammars of what requests ask for, and keeps the last {@value #KEPT_MAX} with all that was
 * found out about them. Compiling is done by the thread that asks; safe for many.
 */
public final class Grammars {
  private static final int KEPT_MAX = 8;
  private static final String ROOT = "root";
  private static final String CALLS = "calls";

  /** Characters of one schema or expression. */
  private static final int CHARS_MAX = 200_000;

  private final TokenBytes tokens;
  private final byte[][] pieces;
  private final SingleTokens single;
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
   * @param single the tokens that marks name
   * @param aside where masks are made beside the engine's steps
   */
  public Grammars(byte[][] pieces, int[] ends, SingleTokens single, Executor aside) {
    this.pieces = pieces;
    this.single = single;
    this.tokens = new TokenBytes(pieces, ends);
    this.aside = aside;
  }

  /**
   * JSON that a schema allows.
   *
   * @throws GrammarRefused where the schema can't be held to
   */
  public Supplier<TokenMask> schema(JsonNode schema) {
    return form("schema " + schema, ROOT, () -> JsonSchemas.rules(schema, new JsonNotation()));
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
    return form("gbnf " + grammar, ROOT, () -> Gbnf.rules(grammar, tokens, single));
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
   * Calls as JSON: {@code {"name": …, "arguments": {…}}}.
   *
   * @param frame what stands around them
   * @param arguments what the field of the arguments is called
   * @param functions by name, the schema of what each takes
   * @throws GrammarRefused where a schema can't be held to
   */
  public Supplier<TokenMask> jsonCalls(
      Frame frame, String arguments, Map<String, JsonNode> functions) {
    Notation notation = new JsonNotation();
    return calls(
        "json calls " + arguments,
        frame,
        functions,
        notation,
        (name, taken) ->
            ValueRules.object(
                Expr.sequence(notation.key("name"), ValueRules.separated(":"), name),
                Expr.sequence(notation.key(arguments), ValueRules.separated(":"), taken)));
  }

  /**
   * Calls as Gemma writes them: {@code name{key:1,other:<escape>text<escape>}}.
   *
   * @param frame what stands around them
   * @param functions by name, the schema of what each takes
   * @throws GrammarRefused where a schema can't be held to in this notation
   */
  public Supplier<TokenMask> gemmaCalls(Frame frame, Map<String, JsonNode> functions) {
    List<String> marks = List.of(GemmaNotation.ESCAPE);
    Notation notation = new GemmaNotation(marked(GemmaNotation.ESCAPE, marks));
    return calls("gemma calls", frame, functions, notation, Expr::sequence);
  }

  private Supplier<TokenMask> calls(
      String kind,
      Frame frame,
      Map<String, JsonNode> functions,
      Notation notation,
      BinaryOperator<Expr> call) {
    Map<String, String> parameters = new LinkedHashMap<>();
    functions.keySet().forEach(name -> parameters.put("f" + parameters.size(), parametersOf(name)));
    return form(
        // as JSON, whose quotes tell a name from what stands beside it
        kind + frame + JsonNodeFactory.instance.objectNode().setAll(functions),
        CALLS,
        parameters,
        () -> {
          Map<String, Expr> rules = ValueRules.of(notation);
          List<Expr> options = new ArrayList<>();
          functions.forEach((name, schema) -> {
            String rule = "f" + options.size();
            JsonSchemas.add(rules, rule, schema, notation, parametersOf(name));
            options.add(call.apply(notation.name(name), new Expr.Rule(rule)));
          });
          Expr one = new Expr.Choice(options);
          Expr more =
              frame.again().isEmpty()
                  ? Expr.EMPTY
                  : new Expr.Repeat(
                      Expr.sequence(marked(frame.again(), frame.marks()), one), 0, -1);
          rules.put(
              CALLS,
              Expr.sequence(
                  marked(frame.before(), frame.marks()),
                  one,
                  more,
                  marked(frame.after(), frame.marks())));
          return rules;
        });
  }

  private static String parametersOf(String function) {
    return "the parameters of " + Names.shown(function);
  }

  /** A text in which marks that are control tokens, and so no text, are written as these. */
  private Expr marked(String text, List<String> marks) {
    for (String mark : marks) {
      int at = mark.isEmpty() ? -1 : text.indexOf(mark);
      OptionalInt token = at < 0 ? OptionalInt.empty() : single.of(mark);
      if (token.isPresent() && pieces[token.getAsInt()].length == 0) {
        return Expr.sequence(
            marked(text.substring(0, at), marks),
            new Expr.Token(token.getAsInt(), false),
            marked(text.substring(at + mark.length()), marks));
      }
    }
    return Expr.text(text);
  }

  private Supplier<TokenMask> form(String key, String first, Supplier<Map<String, Expr>> rules) {
    return form(key, first, Map.of(first, "it"), rules);
  }

  /**
   * @param needed rules without which the form has a dead end: what each is, by its name
   */
  private Supplier<TokenMask> form(
      String key, String first, Map<String, String> needed, Supplier<Map<String, Expr>> rules) {
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
      needed.forEach((rule, what) -> {
        if (!network.hasEnd(network.number(rule))) {
          throw new GrammarRefused("no text fits " + what);
        }
      });
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
