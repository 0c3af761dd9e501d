package dev.flotilla.agent.models;

/** A file that could not be fetched: one sentence that says what, from where, and what to do. */
final class DownloadFailed extends Exception {
  private static final long serialVersionUID = 1L;

  private final String message;

  DownloadFailed(String message) {
    super(message);
    this.message = message;
  }

  @Override
  public String getMessage() {
    return message;
  }
}
