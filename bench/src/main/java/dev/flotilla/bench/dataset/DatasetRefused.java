package dev.flotilla.bench.dataset;

/**
 * There is no dataset as it was asked for. The message is one line for the terminal: what is wrong,
 * where, and what would do.
 */
public final class DatasetRefused extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean wrongUsage;

  private DatasetRefused(String message, boolean wrongUsage, Throwable cause) {
    super(message, cause);
    this.wrongUsage = wrongUsage;
  }

  private DatasetRefused(String message, boolean wrongUsage) {
    super(message);
    this.wrongUsage = wrongUsage;
  }

  /** What was asked for can't be meant: a command ends with 2. */
  static DatasetRefused usage(String message) {
    return new DatasetRefused(message, true);
  }

  /** It could not be had: a command ends with 1. */
  static DatasetRefused failed(String message) {
    return new DatasetRefused(message, false);
  }

  static DatasetRefused failed(String message, Throwable cause) {
    return new DatasetRefused(message, false, cause);
  }

  /** Whether the options can't be meant; else something that they name is not as it should be. */
  public boolean wrongUsage() {
    return wrongUsage;
  }
}
