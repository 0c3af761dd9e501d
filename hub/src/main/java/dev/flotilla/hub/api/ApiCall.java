package dev.flotilla.hub.api;

import dev.flotilla.wire.openai.ApiError;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * One request to the API, read with limits.
 *
 * @param by who asks, for events: the key's name, or where the request is from
 */
record ApiCall(ServerRequest request, String by) {
  private static final int JSON_BYTES_MAX = 64 * 1024;
  private static final int FILE_BYTES_MAX = 1 << 20;
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private static String header(ServerRequest request, HeaderName name) {
    return request.headers().first(name).orElse("");
  }

  /** The token of {@code Authorization: Bearer}, empty where there is none. */
  static String bearer(ServerRequest request) {
    String value = header(request, HeaderNames.AUTHORIZATION);
    return value.regionMatches(true, 0, "Bearer ", 0, 7) ? value.substring(7).strip() : "";
  }

  Optional<String> query(String name) {
    return request.query().first(name).asOptional().filter(value -> !value.isEmpty());
  }

  long number(String name, long otherwise, long least, long most) throws ApiRefusal {
    Optional<String> text = query(name);
    if (text.isEmpty()) {
      return otherwise;
    }
    try {
      long value = Long.parseLong(text.get());
      if (value >= least && value <= most) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    throw refusal("invalid_parameter", name + " is a number from " + least + " to " + most, name);
  }

  boolean flag(String name) throws ApiRefusal {
    String text = query(name).orElse("false");
    if (text.equals("true") || text.equals("false")) {
      return text.equals("true");
    }
    throw refusal("invalid_parameter", name + " is true or false", name);
  }

  String path(String name) {
    return request.path().pathParameters().get(name);
  }

  /** The number that names a thing, where the text is one. */
  static Optional<Long> id(String text) {
    boolean number = !text.isEmpty() && text.length() < 18 && text.chars().allMatch(ApiCall::digit);
    return number ? Optional.of(Long.valueOf(text)) : Optional.empty();
  }

  private static boolean digit(int c) {
    return c >= '0' && c <= '9';
  }

  /** The body as a JSON object. */
  JsonNode json() throws ApiRefusal {
    return json(JSON_BYTES_MAX);
  }

  /** The body as a JSON object, of so many bytes at most. */
  JsonNode json(int bytesMax) throws ApiRefusal {
    try {
      JsonNode body = MAPPER.readTree(body(bytesMax));
      if (body.isObject()) {
        return body;
      }
    } catch (JacksonException e) {
      // Said below, as for JSON that is no object.
    }
    throw refusal("invalid_json", "the body is a JSON object", null);
  }

  byte[] file() throws ApiRefusal {
    return body(FILE_BYTES_MAX);
  }

  private byte[] body(int bytesMax) throws ApiRefusal {
    try (InputStream in = request.content().inputStream()) {
      byte[] body = in.readNBytes(bytesMax + 1);
      if (body.length <= bytesMax) {
        return body;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    throw new ApiRefusal(
        new ApiError(
            413,
            "invalid_request_error",
            "body_too_large",
            "the body is larger than "
                + (bytesMax < 1 << 20 ? bytesMax / 1024 + " KiB" : bytesMax / (1 << 20) + " MiB"),
            null,
            null));
  }

  static String text(JsonNode body, String field) throws ApiRefusal {
    JsonNode value = body.path(field);
    if (value.isString() && !value.asString().isBlank()) {
      return value.asString();
    }
    throw refusal("missing_field", "the body needs the text \"" + field + "\"", field);
  }

  static Optional<Integer> whole(JsonNode body, String field) throws ApiRefusal {
    JsonNode value = body.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    if (value.isIntegralNumber() && value.canConvertToInt()) {
      return Optional.of(value.asInt());
    }
    throw refusal("invalid_parameter", "\"" + field + "\" is a whole number", field);
  }

  static ApiRefusal refusal(String code, String message, @Nullable String param) {
    return new ApiRefusal(ApiError.badRequest(code, message, param));
  }
}
