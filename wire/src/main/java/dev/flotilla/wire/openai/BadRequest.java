package dev.flotilla.wire.openai;

import org.jspecify.annotations.Nullable;

/** The way of a request's refusal up through what reads it; carries no stack. */
final class BadRequest extends Exception {
  private static final long serialVersionUID = 1;

  private final transient ApiError error;

  BadRequest(String code, String message, @Nullable String param) {
    super(message, null, false, false);
    this.error = ApiError.badRequest(code, message, param);
  }

  /** A field without which a request is none. */
  static BadRequest missing(String name, String what) {
    return new BadRequest(
        "missing_required_parameter", "the body has no \"" + name + "\": " + what, name);
  }

  /** A field whose value is of another kind than the one that is wanted. */
  static BadRequest wrongType(String name, String wanted) {
    return new BadRequest("invalid_type", "\"" + name + "\" must be " + wanted, name);
  }

  /** What is wrong with the body as a whole. */
  static BadRequest invalid(String code, String message) {
    return new BadRequest(code, message, null);
  }

  /** What the client is told. */
  ApiError error() {
    return error;
  }
}
