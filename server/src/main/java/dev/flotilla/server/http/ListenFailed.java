package dev.flotilla.server.http;

import java.io.IOException;

/** A server can't listen where it should; the message says why and what to do. */
public final class ListenFailed extends IOException {
  private static final long serialVersionUID = 1;

  ListenFailed(String message) {
    super(message);
  }

  ListenFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
