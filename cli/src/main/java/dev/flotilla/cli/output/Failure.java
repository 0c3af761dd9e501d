package dev.flotilla.cli.output;

/**
 * Something that a person can understand and mend: printed as one line after {@code flotilla:},
 * without a stack trace; the command ends with 1.
 */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public Failure(String message) {
    super(message);
  }

  public Failure(String message, Throwable cause) {
    super(message, cause);
  }
}
