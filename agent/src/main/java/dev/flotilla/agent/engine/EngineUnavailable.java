package dev.flotilla.agent.engine;

/** An engine that can't be had on this machine: one sentence with what to do. */
public final class EngineUnavailable extends Exception {
  private static final long serialVersionUID = 1L;

  public EngineUnavailable(String message) {
    super(message);
  }
}
