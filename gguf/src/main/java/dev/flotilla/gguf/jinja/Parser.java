package dev.flotilla.gguf.jinja;

import dev.flotilla.gguf.jinja.Stmt.Target;
import dev.flotilla.gguf.sandbox.Failure;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads a template's tags into statements. */
public final class Parser {
  private static final Set<String> NEEDS_FILES = Set.of("extends", "include", "import", "from");

  private final TokenStream tokens;
  private final ExpressionParser expressions;
  private int loops;

  private Parser(TokenStream tokens) {
    this.tokens = tokens;
    this.expressions = new ExpressionParser(tokens);
  }

  /**
   * The statements of a template.
   *
   * @throws Failure where it is no Jinja, or nests too deep
   */
  public static List<Stmt> parse(String source) {
    Parser parser = new Parser(new TokenStream(Lexer.tokens(source)));
    return parser.body(Set.of());
  }

  /** Statements up to a tag of one of these names, whose name becomes current; or to the end. */
  private List<Stmt> body(Set<String> ends) {
    tokens.enter();
    int opened = tokens.line();
    List<Stmt> statements = new ArrayList<>();
    while (true) {
      Token token = tokens.next();
      switch (token.type()) {
        case TEXT -> statements.add(new Stmt.Text(token.text(), token.line()));
        case PRINT_BEGIN -> {
          statements.add(new Stmt.Print(expressions.tuple(true), token.line()));
          tokens.end(TokenType.PRINT_END);
        }
        case BLOCK_BEGIN -> {
          if (tokens.current().type() == TokenType.NAME && ends.contains(tokens.current().text())) {
            tokens.leave();
            return statements;
          }
          statements.add(statement());
        }
        default -> {
          if (!ends.isEmpty()) {
            throw Failure.syntax(opened, "the template ends before '%s'".formatted(lastOf(ends)));
          }
          tokens.leave();
          return statements;
        }
      }
    }
  }

  private static String lastOf(Set<String> ends) {
    return ends.stream().filter(end -> end.startsWith("end")).findFirst().orElse("");
  }

  /** A body with nothing but its end behind it. */
  private List<Stmt> bodyTo(String end) {
    tokens.end(TokenType.BLOCK_END);
    List<Stmt> statements = body(Set.of(end));
    tokens.name(end);
    tokens.end(TokenType.BLOCK_END);
    return statements;
  }

  private Stmt statement() {
    int line = tokens.line();
    String tag = tokens.anyName();
    return switch (tag) {
      case "if" -> branches(line);
      case "for" -> loop(line);
      case "set" -> set(line);
      case "macro" -> macro(line);
      case "call" -> call(line);
      case "filter" -> {
        List<Expr.FilterStep> steps = expressions.filterSteps(true);
        yield new Stmt.FilterBlock(steps, bodyTo("endfilter"), line);
      }
      case "with" -> with(line);
      case "generation" -> new Stmt.With(List.of(), bodyTo("endgeneration"), line);
      case "break", "continue" -> {
        if (loops == 0) {
          throw Failure.syntax(line, "'" + tag + "' outside of a loop");
        }
        tokens.end(TokenType.BLOCK_END);
        yield tag.equals("break") ? new Stmt.Break(line) : new Stmt.Continue(line);
      }
      default ->
          throw Failure.syntax(
              line,
              NEEDS_FILES.contains(tag)
                  ? "'" + tag + "' needs another template, and a model file has none"
                  : "the tag '" + tag + "' is unknown, or has nothing to end here");
    };
  }

  private Stmt branches(int line) {
    List<Stmt.Branch> branches = new ArrayList<>();
    List<Stmt> otherwise = List.of();
    while (true) {
      Expr test = expressions.tuple(false);
      tokens.end(TokenType.BLOCK_END);
      branches.add(new Stmt.Branch(test, body(Set.of("elif", "else", "endif"))));
      String next = tokens.anyName();
      if (next.equals("elif")) {
        continue;
      }
      if (next.equals("else")) {
        otherwise = bodyTo("endif");
      } else {
        tokens.end(TokenType.BLOCK_END);
      }
      return new Stmt.If(branches, otherwise, line);
    }
  }

  private Stmt loop(int line) {
    Target target = target(true);
    tokens.name("in");
    Expr source = expressions.tuple(false);
    Expr filter = tokens.skipName("if") ? expressions.expression() : null;
    boolean recursive = tokens.skipName("recursive");
    tokens.end(TokenType.BLOCK_END);
    loops++;
    List<Stmt> body = body(Set.of("else", "endfor"));
    loops--;
    List<Stmt> otherwise = List.of();
    if (tokens.anyName().equals("else")) {
      otherwise = bodyTo("endfor");
    } else {
      tokens.end(TokenType.BLOCK_END);
    }
    return new Stmt.For(target, source, filter, body, otherwise, recursive, line);
  }

  private Stmt set(int line) {
    Target target = target(false);
    if (tokens.skipOperator("=")) {
      Expr value = expressions.tuple(true);
      tokens.end(TokenType.BLOCK_END);
      return new Stmt.Set(target, value, line);
    }
    List<Expr.FilterStep> filters = expressions.filterSteps(false);
    return new Stmt.SetBlock(target, filters, bodyTo("endset"), line);
  }

  private Stmt with(int line) {
    List<Stmt.Binding> bindings = new ArrayList<>();
    while (tokens.current().type() != TokenType.BLOCK_END) {
      if (!bindings.isEmpty()) {
        tokens.operator(",");
      }
      Target target = target(false);
      tokens.operator("=");
      bindings.add(new Stmt.Binding(target, expressions.expression()));
    }
    return new Stmt.With(bindings, bodyTo("endwith"), line);
  }

  private Stmt macro(int line) {
    String name = tokens.anyName();
    List<Stmt.Parameter> parameters = parameters();
    return new Stmt.MacroOf(signature(name, parameters, "endmacro", line), line);
  }

  private Stmt call(int line) {
    List<Stmt.Parameter> parameters = tokens.current().isOperator("(") ? parameters() : List.of();
    if (!(expressions.expression() instanceof Expr.Call call)) {
      throw Failure.syntax(line, "'call' needs the call of a macro");
    }
    return new Stmt.CallBlock(call, signature("caller", parameters, "endcall", line), line);
  }

  /** Reads a macro's body, and what of its arguments it speaks of. */
  private Stmt.Signature signature(
      String name, List<Stmt.Parameter> parameters, String end, int line) {
    Set<String> before = new HashSet<>(expressions.names());
    expressions.names().clear();
    int loopsOutside = loops;
    loops = 0;
    List<Stmt> body = bodyTo(end);
    loops = loopsOutside;
    Set<String> names = Set.copyOf(expressions.names());
    expressions.names().addAll(before);
    return new Stmt.Signature(
        name,
        parameters,
        body,
        names.contains("varargs"),
        names.contains("kwargs"),
        names.contains("caller"),
        line);
  }

  private List<Stmt.Parameter> parameters() {
    tokens.operator("(");
    List<Stmt.Parameter> parameters = new ArrayList<>();
    while (!tokens.skipOperator(")")) {
      if (!parameters.isEmpty()) {
        tokens.operator(",");
        if (tokens.skipOperator(")")) {
          break;
        }
      }
      int line = tokens.line();
      String name = tokens.anyName();
      Expr otherwise = tokens.skipOperator("=") ? expressions.expression() : null;
      if (otherwise == null && lastHasDefault(parameters)) {
        throw Failure.syntax(line, "'%s' needs a default, as those before it".formatted(name));
      }
      parameters.add(new Stmt.Parameter(name, otherwise));
    }
    return parameters;
  }

  private static boolean lastHasDefault(List<Stmt.Parameter> parameters) {
    return !parameters.isEmpty() && parameters.getLast().otherwise() != null;
  }

  /** What is assigned to: a name, names with commas between them, or a namespace's field. */
  private Target target(boolean nameOnly) {
    List<Target> targets = new ArrayList<>();
    boolean several = false;
    while (true) {
      targets.add(single(nameOnly));
      if (!tokens.skipOperator(",")) {
        break;
      }
      several = true;
      if (tokens.current().isName("in") || tokens.current().isOperator("=")) {
        break;
      }
    }
    return several ? new Target.Several(targets) : targets.getFirst();
  }

  private Target single(boolean nameOnly) {
    if (tokens.skipOperator("(")) {
      tokens.enter();
      Target inner = target(nameOnly);
      tokens.leave();
      tokens.operator(")");
      return inner;
    }
    int line = tokens.line();
    String name = tokens.anyName();
    @Nullable String reserved = reserved(name);
    if (reserved != null) {
      throw Failure.syntax(line, reserved);
    }
    if (!nameOnly && tokens.skipOperator(".")) {
      return new Target.Field(name, tokens.anyName());
    }
    return new Target.Variable(name);
  }

  private static @Nullable String reserved(String name) {
    return switch (name) {
      case "true", "false", "none", "True", "False", "None" -> "can't assign to '" + name + "'";
      default -> null;
    };
  }
}
