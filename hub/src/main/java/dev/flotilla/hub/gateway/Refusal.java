package dev.flotilla.hub.gateway;

import dev.flotilla.wire.openai.ApiError;

/** The request ends here, with an error for its client. */
final class Refusal extends Exception {
  private static final long serialVersionUID = 1;

  @SuppressWarnings("serial") // never written: it lives as long as one request
  private final ApiError error;

  private final String outcome;

  private Refusal(ApiError error, String outcome) {
    super(error.message(), null, false, false);
    this.error = error;
    this.outcome = outcome;
  }

  /** The hub does not do what is asked. */
  static Refusal refused(ApiError error) {
    return new Refusal(error, "refused");
  }

  /** The hub tried and could not. */
  static Refusal failed(ApiError error) {
    return new Refusal(error, "failed");
  }

  ApiError error() {
    return error;
  }

  /** The word for the usage log. */
  String outcome() {
    return outcome;
  }
}
