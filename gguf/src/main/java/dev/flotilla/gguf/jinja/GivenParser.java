package dev.flotilla.gguf.jinja;

import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the arguments of a call, a filter or a test. */
final class GivenParser {
  private final TokenStream tokens;
  private final ExpressionParser expressions;

  GivenParser(TokenStream tokens, ExpressionParser expressions) {
    this.tokens = tokens;
    this.expressions = expressions;
  }

  /** Arguments in parentheses. */
  Expr.Given read() {
    tokens.operator("(");
    List<Expr> positional = new ArrayList<>();
    Map<String, Expr> named = new LinkedHashMap<>();
    Expr list = null;
    Expr dict = null;
    boolean first = true;
    while (!tokens.skipOperator(")")) {
      if (!first) {
        tokens.operator(",");
        if (tokens.skipOperator(")")) {
          break;
        }
      }
      first = false;
      if (tokens.skipOperator("*")) {
        list = once(list, expressions.expression());
      } else if (tokens.skipOperator("**")) {
        dict = once(dict, expressions.expression());
      } else if (tokens.current().type() == TokenType.NAME && tokens.look().isOperator("=")) {
        int line = tokens.line();
        String name = tokens.anyName();
        tokens.operator("=");
        if (named.put(name, expressions.expression()) != null) {
          throw Failure.syntax(line, "the argument '" + name + "' is given twice");
        }
      } else if (named.isEmpty() && list == null && dict == null) {
        positional.add(expressions.expression());
      } else {
        throw Failure.syntax(tokens.line(), "an argument without a name behind one with a name");
      }
    }
    return new Expr.Given(positional, named, list, dict);
  }

  private Expr once(@Nullable Expr before, Expr expression) {
    if (before != null) {
      throw Failure.syntax(expression.line(), "two lists of arguments in one call");
    }
    return expression;
  }
}
