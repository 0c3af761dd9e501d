package dev.flotilla.bench.load;

import java.io.IOException;

/** There is nothing to measure: the message says why, in one sentence for the user. */
public final class ServerUnusable extends IOException {
  private static final long serialVersionUID = 1;

  ServerUnusable(String message) {
    super(message);
  }

  ServerUnusable(String message, Throwable cause) {
    super(message, cause);
  }
}
