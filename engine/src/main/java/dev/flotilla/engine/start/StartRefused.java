package dev.flotilla.engine.start;

/** The engine can't serve that model in that way; the message says why and what would do. */
public sealed class StartRefused extends Exception permits HeapTooSmall {
  private static final long serialVersionUID = 1L;

  public StartRefused(String message) {
    super(message);
  }

  StartRefused(String message, Throwable cause) {
    super(message, cause);
  }
}
