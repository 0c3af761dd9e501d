package dev.flotilla.gguf.jinja;

import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads expressions. Loosest first: {@code x if y else z}, {@code or}, {@code and}, {@code not},
 * comparisons and {@code in}, {@code +} and {@code -}, {@code ~}, {@code *} and its like, {@code
 * **}, signs; then attributes, elements and calls, then filters and tests.
 */
final class ExpressionParser {
  private static final Set<String> COMPARISONS = Set.of("==", "!=", "<", "<=", ">", ">=");
  private static final Set<String> PRODUCTS = Set.of("*", "/", "//", "%");

  private final TokenStream tokens;

  /** Every name that was read as a variable. */
  private final Set<String> names = new HashSet<>();

  private final GivenParser given;

  ExpressionParser(TokenStream tokens) {
    this.tokens = tokens;
    this.given = new GivenParser(tokens, this);
  }

  Set<String> names() {
    return names;
  }

  Expr expression() {
    tokens.enter();
    Expr value = conditional();
    tokens.leave();
    return value;
  }

  /** An expression that a following {@code if} does not belong to. */
  Expr withoutCondition() {
    tokens.enter();
    Expr value = or();
    tokens.leave();
    return value;
  }

  /** An expression, or several with commas between them, which make a tuple. */
  Expr tuple(boolean conditions) {
    int line = tokens.line();
    List<Expr> items = new ArrayList<>();
    while (true) {
      items.add(conditions ? expression() : withoutCondition());
      if (!tokens.skipOperator(",")) {
        return items.size() == 1 ? items.getFirst() : new Expr.TupleOf(items, line);
      }
      if (endsTuple()) {
        return new Expr.TupleOf(items, line);
      }
    }
  }

  private boolean endsTuple() {
    Token token = tokens.current();
    return switch (token.type()) {
      case PRINT_END, BLOCK_END, END -> true;
      case OPERATOR -> token.text().equals(")") || token.text().equals("=");
      default -> false;
    };
  }

  private Expr conditional() {
    int line = tokens.line();
    Expr value = or();
    while (tokens.skipName("if")) {
      Expr test = or();
      Expr otherwise = tokens.skipName("else") ? expression() : null;
      value = new Expr.Conditional(test, value, otherwise, line);
    }
    return value;
  }

  private Expr or() {
    int line = tokens.line();
    Expr left = and();
    while (tokens.skipName("or")) {
      left = new Expr.Or(left, and(), line);
    }
    return left;
  }

  private Expr and() {
    int line = tokens.line();
    Expr left = not();
    while (tokens.skipName("and")) {
      left = new Expr.And(left, not(), line);
    }
    return left;
  }

  private Expr not() {
    int line = tokens.line();
    if (!tokens.skipName("not")) {
      return comparison();
    }
    tokens.enter();
    Expr operand = not();
    tokens.leave();
    return new Expr.Not(operand, line);
  }

  private Expr comparison() {
    int line = tokens.line();
    Expr first = sum();
    List<Expr.Step> steps = new ArrayList<>();
    while (true) {
      Token token = tokens.current();
      if (token.type() == TokenType.OPERATOR && COMPARISONS.contains(token.text())) {
        tokens.next();
        steps.add(new Expr.Step(token.text(), sum()));
      } else if (tokens.skipName("in")) {
        steps.add(new Expr.Step("in", sum()));
      } else if (token.isName("not") && tokens.look().isName("in")) {
        tokens.next();
        tokens.next();
        steps.add(new Expr.Step("not in", sum()));
      } else {
        return steps.isEmpty() ? first : new Expr.Comparison(first, steps, line);
      }
    }
  }

  private Expr sum() {
    int line = tokens.line();
    Expr left = joined();
    while (tokens.current().isOperator("+") || tokens.current().isOperator("-")) {
      left = new Expr.Arithmetic(tokens.next().text(), left, joined(), line);
    }
    return left;
  }

  private Expr joined() {
    int line = tokens.line();
    List<Expr> parts = new ArrayList<>();
    do {
      parts.add(product());
    } while (tokens.skipOperator("~"));
    return parts.size() == 1 ? parts.getFirst() : new Expr.Joined(parts, line);
  }

  private Expr product() {
    int line = tokens.line();
    Expr left = power();
    while (tokens.current().type() == TokenType.OPERATOR
        && PRODUCTS.contains(tokens.current().text())) {
      left = new Expr.Arithmetic(tokens.next().text(), left, power(), line);
    }
    return left;
  }

  private Expr power() {
    int line = tokens.line();
    Expr left = unary(true);
    while (tokens.skipOperator("**")) {
      left = new Expr.Arithmetic("**", left, unary(true), line);
    }
    return left;
  }

  private Expr unary(boolean filters) {
    int line = tokens.line();
    tokens.enter();
    Expr value;
    if (tokens.skipOperator("-")) {
      value = new Expr.Signed(true, unary(false), line);
    } else if (tokens.skipOperator("+")) {
      value = new Expr.Signed(false, unary(false), line);
    } else {
      value = postfix(primary());
    }
    tokens.leave();
    return filters ? filters(postfix(value)) : value;
  }

  private Expr primary() {
    Token token = tokens.next();
    int line = token.line();
    switch (token.type()) {
      case NAME -> {
        return switch (token.text()) {
          case "true", "True" -> new Expr.Constant(true, line);
          case "false", "False" -> new Expr.Constant(false, line);
          case "none", "None" -> new Expr.Constant(None.NONE, line);
          default -> {
            names.add(token.text());
            yield new Expr.Name(token.text(), line);
          }
        };
      }
      case STRING -> {
        StringBuilder text = new StringBuilder(token.text());
        while (tokens.current().type() == TokenType.STRING) {
          text.append(tokens.next().text());
        }
        return new Expr.Constant(text.toString(), line);
      }
      case NUMBER -> {
        return new Expr.Constant(token.value(), line);
      }
      case OPERATOR -> {
        switch (token.text()) {
          case "(" -> {
            return parenthesised(line);
          }
          case "[" -> {
            return new Expr.ListOf(items("]"), line);
          }
          case "{" -> {
            return dict(line);
          }
          default -> {}
        }
      }
      default -> {}
    }
    throw Failure.syntax(line, "expected an expression, found " + token.shown());
  }

  private Expr parenthesised(int line) {
    if (tokens.skipOperator(")")) {
      return new Expr.TupleOf(List.of(), line);
    }
    Expr value = tuple(true);
    tokens.operator(")");
    return value;
  }

  private List<Expr> items(String end) {
    List<Expr> items = new ArrayList<>();
    while (!tokens.skipOperator(end)) {
      if (!items.isEmpty()) {
        tokens.operator(",");
        if (tokens.skipOperator(end)) {
          break;
        }
      }
      items.add(expression());
    }
    return items;
  }

  private Expr dict(int line) {
    List<Expr.Pair> pairs = new ArrayList<>();
    while (!tokens.skipOperator("}")) {
      if (!pairs.isEmpty()) {
        tokens.operator(",");
        if (tokens.skipOperator("}")) {
          break;
        }
      }
      Expr key = expression();
      tokens.operator(":");
      pairs.add(new Expr.Pair(key, expression()));
    }
    return new Expr.DictOf(pairs, line);
  }

  private Expr postfix(Expr start) {
    Expr value = start;
    while (true) {
      int line = tokens.line();
      if (tokens.skipOperator(".")) {
        Token token = tokens.next();
        value =
            switch (token.type()) {
              case NAME -> new Expr.Attribute(value, token.text(), line);
              case NUMBER -> new Expr.Item(value, new Expr.Constant(token.value(), line), line);
              default ->
                  throw Failure.syntax(line, "expected a name after '.', found " + token.shown());
            };
      } else if (tokens.skipOperator("[")) {
        value = subscript(value, line);
      } else if (tokens.current().isOperator("(")) {
        value = new Expr.Call(value, given.read(), line);
      } else {
        return value;
      }
    }
  }

  private Expr subscript(Expr owner, int line) {
    Expr start = tokens.current().isOperator(":") ? null : expression();
    if (!tokens.skipOperator(":")) {
      List<Expr> keys = new ArrayList<>();
      if (start != null) {
        keys.add(start);
      }
      while (tokens.skipOperator(",")) {
        keys.add(expression());
      }
      tokens.operator("]");
      return new Expr.Item(
          owner, keys.size() == 1 ? keys.getFirst() : new Expr.TupleOf(keys, line), line);
    }
    Expr stop = bound();
    Expr step = tokens.skipOperator(":") ? bound() : null;
    tokens.operator("]");
    return new Expr.Slice(owner, start, stop, step, line);
  }

  private @Nullable Expr bound() {
    return tokens.current().isOperator(":") || tokens.current().isOperator("]")
        ? null
        : expression();
  }

  /** The filters and tests behind a value. */
  Expr filters(Expr start) {
    Expr value = start;
    while (true) {
      int line = tokens.line();
      if (tokens.skipOperator("|")) {
        value = new Expr.Filtered(value, filter(line), line);
      } else if (tokens.skipName("is")) {
        value = test(value, line);
      } else if (tokens.current().isOperator("(")) {
        value = new Expr.Call(value, given.read(), line);
      } else {
        return value;
      }
    }
  }

  /** A filter's name and arguments, behind the {@code |}. */
  Expr.FilterStep filter(int line) {
    String name = dotted();
    return new Expr.FilterStep(
        name, tokens.current().isOperator("(") ? given.read() : Expr.Given.NOTHING, line);
  }

  /** The filters of a block, behind its name or its target. */
  List<Expr.FilterStep> filterSteps(boolean first) {
    List<Expr.FilterStep> steps = new ArrayList<>();
    if (first) {
      steps.add(filter(tokens.line()));
    }
    while (tokens.skipOperator("|")) {
      steps.add(filter(tokens.line()));
    }
    return steps;
  }

  private String dotted() {
    StringBuilder name = new StringBuilder(tokens.anyName());
    while (tokens.skipOperator(".")) {
      name.append('.').append(tokens.anyName());
    }
    return name.toString();
  }

  private Expr test(Expr value, int line) {
    boolean negated = tokens.skipName("not");
    String name = dotted();
    Expr.Given operand = Expr.Given.NOTHING;
    Token token = tokens.current();
    if (token.isOperator("(")) {
      operand = given.read();
    } else if (startsArgument(token)) {
      if (token.isName("is")) {
        throw Failure.syntax(line, "tests can't be chained with 'is'");
      }
      operand = new Expr.Given(List.of(postfix(primary())), Map.of(), null, null);
    }
    Expr tested = new Expr.Tested(value, name, operand, line);
    return negated ? new Expr.Not(tested, line) : tested;
  }

  private static boolean startsArgument(Token token) {
    return switch (token.type()) {
      case STRING, NUMBER -> true;
      case NAME -> !token.isName("else") && !token.isName("or") && !token.isName("and");
      case OPERATOR -> token.text().equals("[") || token.text().equals("{");
      default -> false;
    };
  }
}
