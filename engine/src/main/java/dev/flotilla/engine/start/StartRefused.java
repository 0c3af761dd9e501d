package dev.flotilla.engine.start;

/** The engine can't serve that model in that way; the message says why and what would do. */
public final class StartRefused extends Exception {
  private static final long serialVersionUID = 1L;

  public StartRefused(String message) {
    super(message);
  }

  StartRefused(String message, Throwable cause) {
    super(message, cause);
  }
}
