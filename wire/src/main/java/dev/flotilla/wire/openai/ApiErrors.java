package dev.flotilla.wire.openai;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/** Writes errors in OpenAI's form: {@code {"error":{"message","type","param","code"}}}. */
public final class ApiErrors {
  private ApiErrors() {}

  /** The body of an error reply. */
  public static byte[] body(ApiError error) {
    ByteArrayOutputStream json = new ByteArrayOutputStream(256);
    write(json, error);
    return json.toByteArray();
  }

  /** The event that tells a client in mid-stream that its reply has failed. */
  public static byte[] event(ApiError error) {
    ByteArrayOutputStream json = new ByteArrayOutputStream(256);
    json.writeBytes("data: ".getBytes(UTF_8));
    write(json, error);
    json.writeBytes("\n\n".getBytes(UTF_8));
    return json.toByteArray();
  }

  private static void write(ByteArrayOutputStream json, ApiError error) {
    field(json, "{\"error\":{\"message\":", error.message());
    field(json, ",\"type\":", error.type());
    field(json, ",\"param\":", error.param());
    field(json, ",\"code\":", error.code());
    json.writeBytes("}}".getBytes(UTF_8));
  }

  private static void field(ByteArrayOutputStream json, String name, @Nullable String value) {
    json.writeBytes(name.getBytes(UTF_8));
    json.writeBytes(value == null ? "null".getBytes(UTF_8) : JsonText.quoted(value));
  }
}
