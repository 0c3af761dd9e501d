package dev.flotilla.gguf.jinja;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An expression of a template, with the line where a message finds it. */
public sealed interface Expr {
  int line();

  record Constant(Object value, int line) implements Expr {}

  record Name(String name, int line) implements Expr {}

  record ListOf(List<Expr> items, int line) implements Expr {}

  record TupleOf(List<Expr> items, int line) implements Expr {}

  record DictOf(List<Pair> pairs, int line) implements Expr {}

  record Pair(Expr key, Expr value) {}

  /** {@code then if test else otherwise}. */
  record Conditional(Expr test, Expr then, @Nullable Expr otherwise, int line) implements Expr {}

  record Not(Expr operand, int line) implements Expr {}

  record And(Expr left, Expr right, int line) implements Expr {}

  record Or(Expr left, Expr right, int line) implements Expr {}

  /** {@code -} or {@code +} before a number. */
  record Signed(boolean negative, Expr operand, int line) implements Expr {}

  record Arithmetic(String operator, Expr left, Expr right, int line) implements Expr {}

  /** Texts joined with {@code ~}. */
  record Joined(List<Expr> parts, int line) implements Expr {}

  /** {@code first OPERATOR operand OPERATOR operand …}, each compared with the one before. */
  record Comparison(Expr first, List<Step> steps, int line) implements Expr {}

  record Step(String operator, Expr operand) {}

  /** {@code owner.name}. */
  record Attribute(Expr owner, String name, int line) implements Expr {}

  /** {@code owner[key]}. */
  record Item(Expr owner, Expr key, int line) implements Expr {}

  /** {@code owner[start:stop:step]}. */
  record Slice(Expr owner, @Nullable Expr start, @Nullable Expr stop, @Nullable Expr step, int line)
      implements Expr {}

  record Call(Expr function, Given given, int line) implements Expr {}

  /** {@code input|name(…)}. */
  record Filtered(Expr input, FilterStep filter, int line) implements Expr {}

  /** {@code input is name(…)}. */
  record Tested(Expr input, String name, Given given, int line) implements Expr {}

  /** One filter, apart from what it filters. */
  record FilterStep(String name, Given given, int line) {}

  /** Arguments as written. */
  record Given(
      List<Expr> positional, Map<String, Expr> named, @Nullable Expr list, @Nullable Expr dict) {
    /** No arguments at all. */
    public static final Given NOTHING = new Given(List.of(), Map.of(), null, null);
  }
}
