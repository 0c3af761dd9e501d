package dev.flotilla.hub.api;

import dev.flotilla.wire.openai.ApiError;

/** Ends a request with an error reply. */
final class ApiRefusal extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient ApiError error;

  ApiRefusal(ApiError error) {
    super(error.message(), null, false, false);
    this.error = error;
  }

  ApiError error() {
    return error;
  }
}
