package dev.flotilla.gguf.template;

import dev.flotilla.gguf.jinja.Expr;
import dev.flotilla.gguf.jinja.Stmt;
import dev.flotilla.gguf.jinja.Stmt.Target;
import dev.flotilla.gguf.python.Kinds;
import dev.flotilla.gguf.python.Loop;
import dev.flotilla.gguf.python.Namespace;
import dev.flotilla.gguf.python.Written;
import dev.flotilla.gguf.sandbox.Budget;
import dev.flotilla.gguf.sandbox.Failure;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One rendering of a template: runs its statements, one after another, on the caller's thread.
 *
 * <p>Invariants: every statement and every expression takes a step of the {@link Budget}, so no
 * template runs on without end; every text that grows is counted there before it is kept. {@code
 * line} is the line of what is being done, for the message should it fail.
 */
final class Rendering {
  private enum Flow {
    ON,
    BREAK,
    CONTINUE
  }

  private final Budget budget;
  private final Clock clock;
  private final Evaluator evaluator = new Evaluator(this);
  private StringBuilder out = new StringBuilder();
  private int line = 1;

  Rendering(Budget budget, Clock clock) {
    this.budget = budget;
    this.clock = clock;
  }

  Budget budget() {
    return budget;
  }

  int line() {
    return line;
  }

  void at(int place) {
    line = place;
  }

  String render(List<Stmt> template, Map<String, Object> variables) {
    Scope globals = Scope.outermost(Globals.functions(clock));
    Scope given = globals.inner();
    variables.forEach(given::set);
    run(template, given);
    return out.toString();
  }

  Object evaluate(Expr expression, Scope scope) {
    return evaluator.evaluate(expression, scope);
  }

  /** What statements would print. */
  String capture(List<Stmt> body, Scope scope) {
    StringBuilder outside = out;
    out = new StringBuilder();
    try {
      run(body, scope);
      return out.toString();
    } finally {
      out = outside;
    }
  }

  private void print(String text) {
    budget.made(text.length());
    if (out.length() + text.length() > budget.limits().outputCharactersMax()) {
      throw Failure.limit(
          "its output is longer than %,d characters"
              .formatted(budget.limits().outputCharactersMax()));
    }
    out.append(text);
  }

  private Flow run(List<Stmt> body, Scope scope) {
    budget.enter();
    for (Stmt statement : body) {
      budget.step();
      Flow flow = run(statement, scope);
      if (flow != Flow.ON) {
        budget.leave();
        return flow;
      }
    }
    budget.leave();
    return Flow.ON;
  }

  private Flow run(Stmt statement, Scope scope) {
    line = statement.line();
    switch (statement) {
      case Stmt.Text text -> print(text.text());
      case Stmt.Print print -> print(Written.text(evaluate(print.value(), scope), budget));
      case Stmt.If choice -> {
        return choose(choice, scope);
      }
      case Stmt.For loop -> loop(loop, evaluate(loop.source(), scope), scope, 0);
      case Stmt.Break _ -> {
        return Flow.BREAK;
      }
      case Stmt.Continue _ -> {
        return Flow.CONTINUE;
      }
      case Stmt.Set set -> assign(set.target(), evaluate(set.value(), scope), scope);
      case Stmt.SetBlock set ->
          assign(set.target(), filtered(set.body(), set.filters(), scope), scope);
      case Stmt.MacroOf macro ->
          scope.set(macro.signature().name(), new Macro(macro.signature(), scope, this));
      case Stmt.CallBlock block -> {
        Macro caller = new Macro(block.caller(), scope, this);
        print(Written.text(evaluator.call(block.call(), scope, caller), budget));
      }
      case Stmt.FilterBlock block ->
          print(Written.text(filtered(block.body(), block.filters(), scope), budget));
      case Stmt.With with -> {
        Scope inner = scope.inner();
        for (Stmt.Binding binding : with.bindings()) {
          assign(binding.target(), evaluate(binding.value(), scope), inner);
        }
        return run(with.body(), inner);
      }
    }
    return Flow.ON;
  }

  private Flow choose(Stmt.If choice, Scope scope) {
    for (Stmt.Branch branch : choice.branches()) {
      if (Kinds.truth(evaluate(branch.test(), scope))) {
        return run(branch.body(), scope);
      }
    }
    return run(choice.otherwise(), scope);
  }

  private Object filtered(List<Stmt> body, List<Expr.FilterStep> filters, Scope scope) {
    Object value = capture(body, scope.inner());
    for (Expr.FilterStep filter : filters) {
      value = evaluator.filter(filter, value, scope);
    }
    return value;
  }

  private void loop(Stmt.For loop, Object source, Scope scope, int depth) {
    List<Object> items = Kinds.elements(source, budget);
    if (loop.filter() != null) {
      List<Object> kept = new ArrayList<>();
      for (Object item : items) {
        Scope inner = scope.inner();
        assign(loop.target(), item, inner);
        if (Kinds.truth(evaluate(loop.filter(), inner))) {
          budget.madeElements(1);
          kept.add(item);
        }
      }
      items = kept;
    }
    Loop state =
        new Loop(
            items,
            depth,
            loop.recursive() ? (inner, deeper) -> again(loop, inner, scope, deeper) : null);
    boolean whole = false;
    Flow flow = Flow.ON;
    while (state.hasNext() && flow != Flow.BREAK) {
      Scope inner = scope.inner();
      inner.set("loop", state);
      budget.step();
      assign(loop.target(), state.next(), inner);
      flow = run(loop.body(), inner);
      whole |= flow == Flow.ON;
    }
    if (!whole) { // in Jinja a pass that was cut short is none
      run(loop.otherwise(), scope.inner());
    }
  }

  private Object again(Stmt.For loop, Object source, Scope scope, int depth) {
    StringBuilder outside = out;
    out = new StringBuilder();
    try {
      loop(loop, source, scope, depth);
      return out.toString();
    } finally {
      out = outside;
    }
  }

  private void assign(Target target, Object value, Scope scope) {
    switch (target) {
      case Target.Variable variable -> scope.set(variable.name(), value);
      case Target.Field field -> {
        if (!(scope.get(field.namespace()) instanceof Namespace space)) {
          throw Failure.failed("cannot assign attribute on non-namespace object");
        }
        space.attributes().put(field.name(), value);
      }
      case Target.Several several -> {
        List<Object> values = Kinds.elements(value, budget);
        if (values.size() != several.targets().size()) {
          throw Failure.failed(
              "%d values to unpack where %d are expected", values.size(), several.targets().size());
        }
        for (int i = 0; i < values.size(); i++) {
          assign(several.targets().get(i), values.get(i), scope);
        }
      }
    }
  }
}
