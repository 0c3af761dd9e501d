package dev.flotilla.cli.output;

/**
 * Something that a person can understand and mend: printed as one line after {@code flotilla:},
 * without a stack trace; the command ends with 1.
 */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean aboutKey;

  public Failure(String message) {
    this(message, false);
  }

  public Failure(String message, Throwable cause) {
    super(message, cause);
    this.aboutKey = false;
  }

  private Failure(String message, boolean aboutKey) {
    super(message);
    this.aboutKey = aboutKey;
  }

  /** A hub that is there, and wants a key, or another one. */
  public static Failure ofKey(String message) {
    return new Failure(message, true);
  }

  /** Whether a key, or another one, would mend it. */
  public boolean isAboutKey() {
    return aboutKey;
  }
}
