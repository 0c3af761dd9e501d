package dev.flotilla.gguf.sandbox;

/**
 * A template that can't be read, or a rendering that came to no prompt. The message names the line
 * of the template and what happened there.
 */
public final class TemplateRefused extends Exception {
  private static final long serialVersionUID = 1L;

  /** What kind of end it was. */
  public enum Kind {
    /** The template is not written in Jinja as it is known here. */
    SYNTAX,
    /**
     * The template itself refuses what it was given, with {@code raise_exception}: the conversation
     * is at fault.
     */
    RAISED,
    /** The template does what can't be done, such as adding to something that is not there. */
    FAILED,
    /** The rendering took more than {@link TemplateLimits} allow. */
    LIMIT
  }

  private final Kind kind;
  private final int line;
  private final String reason;

  /**
   * @param line from 1
   * @param reason what happened there, without the place
   */
  public TemplateRefused(Kind kind, int line, String reason) {
    super("chat template, line " + line + ": " + reason);
    this.kind = kind;
    this.line = line;
    this.reason = reason;
  }

  public Kind kind() {
    return kind;
  }

  /** From 1. */
  public int line() {
    return line;
  }

  /** The message without the place; of {@link Kind#RAISED} the template's own words. */
  public String reason() {
    return reason;
  }
}
