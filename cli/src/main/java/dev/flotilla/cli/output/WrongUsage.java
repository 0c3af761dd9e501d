package dev.flotilla.cli.output;

/**
 * A command line that can't be meant: printed as one line that names the option, as it was typed;
 * the command ends with 2.
 */
public final class WrongUsage extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WrongUsage(String message) {
    super(message);
  }

  public WrongUsage(String message, Throwable cause) {
    super(message, cause);
  }
}
