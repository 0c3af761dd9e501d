package dev.flotilla.agent.update;

/** A release that could not be had: the end of a sentence that says why. */
public final class UpdateFailed extends Exception {
  private static final long serialVersionUID = 1L;

  public UpdateFailed(String why) {
    super(why);
  }
}
