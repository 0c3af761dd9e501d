package dev.flotilla.agent;

/** An agent that can't be started here: one sentence that says why and what to do. */
public final class AgentRefused extends Exception {
  private static final long serialVersionUID = 1L;

  private final String message;

  public AgentRefused(String message) {
    super(message);
    this.message = message;
  }

  @Override
  public String getMessage() {
    return message;
  }
}
