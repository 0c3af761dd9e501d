package dev.flotilla.hub.store;

import org.jspecify.annotations.Nullable;

/**
 * The store could not do what was asked. The message is one sentence for a person: what was not
 * stored or read, why, and what to do. Every caller gets one of its own.
 */
public final class StoreFailed extends Exception {
  private static final long serialVersionUID = 1L;

  public StoreFailed(String message, @Nullable Throwable cause) {
    super(message, cause);
  }

  /** The message: never null. */
  public String sentence() {
    return String.valueOf(getMessage());
  }
}
