package dev.flotilla.gguf.jinja;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A statement of a template. */
public sealed interface Stmt {
  int line();

  /** Text between tags. */
  record Text(String text, int line) implements Stmt {}

  record Print(Expr value, int line) implements Stmt {}

  record If(List<Branch> branches, List<Stmt> otherwise, int line) implements Stmt {}

  record Branch(Expr test, List<Stmt> body) {}

  record For(
      Target target,
      Expr source,
      @Nullable Expr filter,
      List<Stmt> body,
      List<Stmt> otherwise,
      boolean recursive,
      int line)
      implements Stmt {}

  record Break(int line) implements Stmt {}

  record Continue(int line) implements Stmt {}

  record Set(Target target, Expr value, int line) implements Stmt {}

  /** {@code {% set x %}…{% endset %}}. */
  record SetBlock(Target target, List<Expr.FilterStep> filters, List<Stmt> body, int line)
      implements Stmt {}

  record MacroOf(Signature signature, int line) implements Stmt {}

  /** {@code {% call(…) macro(…) %}…{% endcall %}}. */
  record CallBlock(Expr.Call call, Signature caller, int line) implements Stmt {}

  record FilterBlock(List<Expr.FilterStep> filters, List<Stmt> body, int line) implements Stmt {}

  record With(List<Binding> bindings, List<Stmt> body, int line) implements Stmt {}

  record Binding(Target target, Expr value) {}

  /**
   * A macro as written.
   *
   * @param takesMore whether its body speaks of {@code varargs}
   * @param takesNamed whether it speaks of {@code kwargs}
   * @param takesCaller whether it speaks of {@code caller}
   */
  record Signature(
      String name,
      List<Parameter> parameters,
      List<Stmt> body,
      boolean takesMore,
      boolean takesNamed,
      boolean takesCaller,
      int line) {}

  record Parameter(String name, @Nullable Expr otherwise) {}

  /** What is assigned to. */
  sealed interface Target {
    record Variable(String name) implements Target {}

    record Field(String namespace, String name) implements Target {}

    record Several(List<Target> targets) implements Target {}
  }
}
