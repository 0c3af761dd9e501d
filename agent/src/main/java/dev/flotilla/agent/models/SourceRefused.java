package dev.flotilla.agent.models;

/**
 * A model reference that is not one: the message is one sentence that says what is wrong with it
 * and which forms there are.
 */
public final class SourceRefused extends Exception {
  private static final long serialVersionUID = 1L;

  private final String message;

  public SourceRefused(String message) {
    super(message);
    this.message = message;
  }

  @Override
  public String getMessage() {
    return message;
  }
}
