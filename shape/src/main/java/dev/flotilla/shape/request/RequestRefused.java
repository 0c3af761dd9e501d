package dev.flotilla.shape.request;

import dev.flotilla.wire.openai.ApiError;

/** A request that no engine should see, on its way up to whoever tells the client; no stack. */
public final class RequestRefused extends Exception {
  private static final long serialVersionUID = 1;

  private final transient ApiError error;

  RequestRefused(String code, String message, String param) {
    super(message, null, false, false);
    this.error = ApiError.badRequest(code, message, param);
  }

  static RequestRefused type(String param, String wanted) {
    return new RequestRefused("invalid_type", "\"" + param + "\" must be " + wanted, param);
  }

  static RequestRefused value(String param, String wanted) {
    return new RequestRefused("invalid_value", "\"" + param + "\" must be " + wanted, param);
  }

  /** The 400 for the client; it names the field. */
  public ApiError error() {
    return error;
  }
}
