package dev.flotilla.gguf.sandbox;

import com.google.errorprone.annotations.FormatMethod;
import dev.flotilla.gguf.sandbox.TemplateRefused.Kind;

/**
 * The way of a {@link TemplateRefused} through the interpreter, whose iterators and comparators
 * can't throw a checked one. Leaves {@code ChatTemplate} never.
 */
public final class Failure extends RuntimeException {
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

  /** The text at that line is no Jinja. */
  public static Failure syntax(int line, String reason) {
    return new Failure(Kind.SYNTAX, reason, line);
  }

  /** The template's own {@code raise_exception}, in its own words. */
  public static Failure raised(String reason) {
    return new Failure(Kind.RAISED, reason, 0);
  }

  /** More was taken than {@link TemplateLimits} allow; the reason says of what. */
  public static Failure limit(String reason) {
    return new Failure(Kind.LIMIT, reason, 0);
  }

  /** The template did what can't be done. */
  public static Failure failed(String reason) {
    return new Failure(Kind.FAILED, reason, 0);
  }

  /** The same in a format of {@link String#format}. */
  @FormatMethod
  public static Failure failed(String format, Object... values) {
    return failed(format.formatted(values));
  }

  /**
   * What outsiders get.
   *
   * @param place the line where the interpreter is, for failures that name none
   */
  public TemplateRefused refused(int place) {
    return new TemplateRefused(kind, line > 0 ? line : place, reason);
  }
}
