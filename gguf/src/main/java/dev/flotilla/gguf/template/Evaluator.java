package dev.flotilla.gguf.template;

import dev.flotilla.gguf.jinja.Expr;
import dev.flotilla.gguf.python.Arguments;
import dev.flotilla.gguf.python.Attributes;
import dev.flotilla.gguf.python.Callable;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.None;
import dev.flotilla.gguf.python.Numbers;
import dev.flotilla.gguf.python.Operators;
import dev.flotilla.gguf.python.Slices;
import dev.flotilla.gguf.python.Tuple;
import dev.flotilla.gguf.python.Undefined;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Evaluates expressions, as Python would. */
final class Evaluator {
  private final Rendering rendering;

  Evaluator(Rendering rendering) {
    this.rendering = rendering;
  }

  Object evaluate(Expr expression, Scope scope) {
    Budget budget = rendering.budget();
    budget.step();
    budget.enter();
    Object value =
        switch (expression) {
          case Expr.Constant constant -> constant.value();
          case Expr.Name name -> scope.get(name.name());
          case Expr.ListOf list -> all(list.items(), scope);
          case Expr.TupleOf tuple -> new Tuple(all(tuple.items(), scope));
          case Expr.DictOf dict -> dict(dict, scope);
          case Expr.Conditional conditional -> conditional(conditional, scope);
          case Expr.Not not -> !Kinds.truth(evaluate(not.operand(), scope));
          case Expr.And and -> {
            Object left = evaluate(and.left(), scope);
            yield Kinds.truth(left) ? evaluate(and.right(), scope) : left;
          }
          case Expr.Or or -> {
            Object left = evaluate(or.left(), scope);
            yield Kinds.truth(left) ? left : evaluate(or.right(), scope);
          }
          case Expr.Signed signed -> {
            Object operand = evaluate(signed.operand(), scope);
            rendering.at(signed.line());
            yield signed.negative() ? Numbers.negative(operand) : Numbers.positive(operand);
          }
          case Expr.Arithmetic arithmetic -> {
            Object left = evaluate(arithmetic.left(), scope);
            Object right = evaluate(arithmetic.right(), scope);
            rendering.at(arithmetic.line());
            yield Operators.apply(arithmetic.operator(), left, right, budget);
          }
          case Expr.Joined joined -> joined(joined, scope);
          case Expr.Comparison comparison -> comparison(comparison, scope);
          case Expr.Attribute attribute -> {
            Object owner = evaluate(attribute.owner(), scope);
            rendering.at(attribute.line());
            yield Attributes.get(owner, attribute.name());
          }
          case Expr.Item item -> {
            Object owner = evaluate(item.owner(), scope);
            Object key = evaluate(item.key(), scope);
            rendering.at(item.line());
            yield Attributes.item(owner, key, budget);
          }
          case Expr.Slice slice -> slice(slice, scope);
          case Expr.Call call -> call(call, scope, null);
          case Expr.Filtered filtered ->
              filter(filtered.filter(), evaluate(filtered.input(), scope), scope);
          case Expr.Tested tested -> {
            Object input = evaluate(tested.input(), scope);
            Arguments arguments = arguments(tested.given(), scope);
            rendering.at(tested.line());
            yield Tests.check(budget, tested.name(), input, arguments);
          }
        };
    budget.leave();
    return value;
  }

  private List<Object> all(List<Expr> expressions, Scope scope) {
    List<Object> values = new ArrayList<>(expressions.size());
    for (Expr expression : expressions) {
      values.add(evaluate(expression, scope));
    }
    rendering.budget().madeElements(values.size());
    return values;
  }

  private Object dict(Expr.DictOf dict, Scope scope) {
    Map<Object, Object> values = LinkedHashMap.newLinkedHashMap(dict.pairs().size());
    for (Expr.Pair pair : dict.pairs()) {
      Object key = Kinds.key(evaluate(pair.key(), scope));
      values.put(key, evaluate(pair.value(), scope));
    }
    rendering.budget().madeElements(values.size());
    return values;
  }

  private Object conditional(Expr.Conditional conditional, Scope scope) {
    if (Kinds.truth(evaluate(conditional.test(), scope))) {
      return evaluate(conditional.then(), scope);
    }
    Expr otherwise = conditional.otherwise();
    return otherwise == null
        ? new Undefined("the inline if has no else, and its test was false")
        : evaluate(otherwise, scope);
  }

  private Object joined(Expr.Joined joined, Scope scope) {
    Budget budget = rendering.budget();
    List<String> parts = new ArrayList<>(joined.parts().size());
    long length = 0;
    for (Expr part : joined.parts()) {
      String text = Written.text(evaluate(part, scope), budget);
      length += text.length();
      parts.add(text);
    }
    budget.made(length);
    return String.join("", parts);
  }

  private Object comparison(Expr.Comparison comparison, Scope scope) {
    Budget budget = rendering.budget();
    Object left = evaluate(comparison.first(), scope);
    for (Expr.Step step : comparison.steps()) {
      Object right = evaluate(step.operand(), scope);
      rendering.at(comparison.line());
      if (!Operators.holds(step.operator(), left, right, budget)) {
        return false;
      }
      left = right;
    }
    return true;
  }

  private Object slice(Expr.Slice slice, Scope scope) {
    Object owner = evaluate(slice.owner(), scope);
    Object start = optional(slice.start(), scope);
    Object stop = optional(slice.stop(), scope);
    Object step = optional(slice.step(), scope);
    rendering.at(slice.line());
    return Slices.of(owner, start, stop, step, rendering.budget());
  }

  private Object optional(@Nullable Expr expression, Scope scope) {
    return expression == null ? None.NONE : evaluate(expression, scope);
  }

  /**
   * A call.
   *
   * @param caller the body of a call block, null for any other call
   */
  Object call(Expr.Call call, Scope scope, @Nullable Macro caller) {
    Object function = evaluate(call.function(), scope);
    Arguments arguments = arguments(call.given(), scope);
    if (caller != null) {
      Map<String, Object> named = new LinkedHashMap<>(arguments.named());
      named.put("caller", caller);
      arguments = new Arguments(arguments.positional(), named);
    }
    rendering.at(call.line());
    return switch (function) {
      case Callable callable -> callable.call(rendering.budget(), arguments);
      case Undefined missing -> throw missing.failure();
      default -> throw Failure.failed("'%s' object is not callable", Kinds.name(function));
    };
  }

  Object filter(Expr.FilterStep filter, Object input, Scope scope) {
    Arguments arguments = arguments(filter.given(), scope);
    rendering.at(filter.line());
    return Filters.apply(rendering.budget(), filter.name(), input, arguments);
  }

  private Arguments arguments(Expr.Given given, Scope scope) {
    if (given.equals(Expr.Given.NOTHING)) {
      return Arguments.NONE;
    }
    List<Object> positional = new ArrayList<>(all(given.positional(), scope));
    Map<String, Object> named = new LinkedHashMap<>();
    given.named().forEach((name, value) -> named.put(name, evaluate(value, scope)));
    if (given.list() != null) {
      positional.addAll(Kinds.elements(evaluate(given.list(), scope), rendering.budget()));
    }
    if (given.dict() != null) {
      if (!(evaluate(given.dict(), scope) instanceof Map<?, ?> more)) {
        throw Failure.failed("what stands behind ** must be a dict");
      }
      more.forEach((name, value) -> {
        if (!(name instanceof String text) || named.put(text, value) != null) {
          throw Failure.failed("the argument names behind ** must be str, and new");
        }
      });
    }
    return new Arguments(positional, named);
  }
}
