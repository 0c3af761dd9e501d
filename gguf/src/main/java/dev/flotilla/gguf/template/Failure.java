package dev.flotilla.gguf.template;

import com.google.errorprone.annotations.FormatMethod;
import dev.flotilla.gguf.template.TemplateRefused.Kind;

/**
 * The way of a {@link TemplateRefused} through the interpreter, whose iterators and comparators
 * can't throw a checked one. Leaves this package never.
 */
final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Kind kind;
  private final String reason;

  /** 0 where the interpreter's own place counts. */
  private final int line;

  private Failure(Kind kind, String reason, int line) {
    super(reason, null, false, false);
    this.kind = kind;
    this.reason = reason;
    this.line = line;
  }

  static Failure syntax(int line, String reason) {
    return new Failure(Kind.SYNTAX, reason, line);
  }

  static Failure raised(String reason) {
    return new Failure(Kind.RAISED, reason, 0);
  }

  static Failure limit(String reason) {
    return new Failure(Kind.LIMIT, reason, 0);
  }

  static Failure failed(String reason) {
    return new Failure(Kind.FAILED, reason, 0);
  }

  @FormatMethod
  static Failure failed(String format, Object... values) {
    return failed(format.formatted(values));
  }

  TemplateRefused refused(int place) {
    return new TemplateRefused(kind, line > 0 ? line : place, reason);
  }
}
