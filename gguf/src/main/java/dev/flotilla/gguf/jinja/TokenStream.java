package dev.flotilla.gguf.jinja;

import dev.flotilla.gguf.sandbox.Failure;
import java.util.List;

/** The tokens of a template, read one after another. */
final class TokenStream {
  /** Expressions and blocks within each other that the parser follows. */
  private static final int DEPTH_MAX = 200;

  private final List<Token> tokens;
  private int at;
  private int depth;

  TokenStream(List<Token> tokens) {
    this.tokens = tokens;
  }

  Token current() {
    return tokens.get(at);
  }

  Token look() {
    return tokens.get(Math.min(at + 1, tokens.size() - 1));
  }

  /** The current token; the one behind it becomes current. */
  Token next() {
    Token token = tokens.get(at);
    if (at + 1 < tokens.size()) {
      at++;
    }
    return token;
  }

  int line() {
    return current().line();
  }

  boolean skipOperator(String operator) {
    boolean there = current().isOperator(operator);
    if (there) {
      next();
    }
    return there;
  }

  boolean skipName(String name) {
    boolean there = current().isName(name);
    if (there) {
      next();
    }
    return there;
  }

  void operator(String operator) {
    if (!skipOperator(operator)) {
      throw expected("'" + operator + "'");
    }
  }

  void name(String name) {
    if (!skipName(name)) {
      throw expected("'" + name + "'");
    }
  }

  String anyName() {
    if (current().type() != TokenType.NAME) {
      throw expected("a name");
    }
    return next().text();
  }

  void end(TokenType type) {
    if (current().type() != type) {
      throw expected("the end of the tag");
    }
    next();
  }

  Failure expected(String what) {
    return Failure.syntax(line(), "expected " + what + ", found " + current().shown());
  }

  void enter() {
    if (++depth > DEPTH_MAX) {
      throw Failure.syntax(line(), "more than %d levels deep".formatted(DEPTH_MAX));
    }
  }

  void leave() {
    depth--;
  }
}
