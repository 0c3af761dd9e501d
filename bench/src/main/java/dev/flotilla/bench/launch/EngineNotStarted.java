package dev.flotilla.bench.launch;

/** An engine that did not come up: one sentence that names it and says why. */
public final class EngineNotStarted extends Exception {
  private static final long serialVersionUID = 1L;

  public EngineNotStarted(String message) {
    super(message);
  }

  public EngineNotStarted(String message, Throwable cause) {
    super(message, cause);
  }
}
