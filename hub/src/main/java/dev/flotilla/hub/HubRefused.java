package dev.flotilla.hub;

/** The hub does not start; the message is one sentence: why, and what to do. */
public final class HubRefused extends Exception {
  private static final long serialVersionUID = 1L;

  public HubRefused(String message) {
    super(message);
  }

  public HubRefused(String message, Throwable cause) {
    super(message, cause);
  }
}
