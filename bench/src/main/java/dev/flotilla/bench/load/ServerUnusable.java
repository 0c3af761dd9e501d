package dev.flotilla.bench.load;

import java.io.IOException;

/** There is nothing to measure: the message says why, in one sentence for the user. */
public final class ServerUnusable extends IOException {
  private static final long serialVersionUID = 1;

  private final boolean answered;

  /** It answered, but not as it should. */
  ServerUnusable(String message) {
    super(message);
    this.answered = true;
  }

  /** There was no answer. */
  ServerUnusable(String message, Throwable cause) {
    super(message, cause);
    this.answered = false;
  }

  /** Whether there was an answer at all, in HTTP. */
  public boolean answered() {
    return answered;
  }
}
