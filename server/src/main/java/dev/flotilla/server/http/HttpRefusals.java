package dev.flotilla.server.http;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.openai.ApiErrors;
import java.io.ByteArrayOutputStream;
import java.time.Duration;

/**
 * What a server of ours refuses for the way in which it was asked, whatever it was asked for. The
 * hub and the built-in engine have the same codes and words for the same mistake.
 *
 * @param server what it calls itself, such as {@code hub}
 * @param firstLineBytesMax the longest first line of a request that it reads
 * @param headBytesMax the largest head of a request that it reads
 */
record HttpRefusals(String server, int firstLineBytesMax, int headBytesMax) {
  /**
   * Why a request is refused.
   *
   * @param status as the HTTP server has it, 415 where the body is encoded, 431 where the head is
   *     too large
   * @param what method and path, as they may be shown
   */
  ApiError of(int status, String what) {
    return switch (status) {
      case 404 -> ApiError.notFound("not_found", what + " is not served here");
      case 405 -> invalid(405, "method_not_allowed", what + ": this path has another method");
      case 414 ->
          invalid(414, "uri_too_long", tooLong("first line is longer than ", firstLineBytesMax));
      case 415 ->
          invalid(
              415,
              "unsupported_content_encoding",
              "the request's body has a Content-Encoding, and this "
                  + server
                  + " reads bodies as they are alone: send it uncompressed and leave the header out");
      case 431 ->
          invalid(431, "headers_too_large", tooLong("headers are larger than ", headBytesMax));
      case 500 -> internal();
      case 501 ->
          invalid(
              501,
              "unsupported_transfer_encoding",
              "the request's body has a Transfer-Encoding other than chunked, and this "
                  + server
                  + " reads chunked alone: send the body uncompressed, in chunks or with a"
                  + " Content-Length");
      case 503 ->
          new ApiError(
              503,
              "server_error",
              "too_many_requests",
              "the " + server + " has too many requests at once; try again",
              null,
              null);
      case 505 -> invalid(505, "http_version_not_supported", "the " + server + " speaks HTTP/1.1");
      default -> invalid(status, "malformed_http", "the request is not well-formed HTTP/1.1");
    };
  }

  /**
   * Whether a body is not as it is: its header {@code Content-Encoding}, empty where it has none,
   * says something else than {@code identity}, which says nothing.
   */
  static boolean isEncoded(String contentEncoding) {
    return !contentEncoding.isEmpty() && !contentEncoding.equalsIgnoreCase("identity");
  }

  /** The whole reply to a request whose head did not arrive in time. */
  static byte[] slowHead(Duration limit) {
    return slow(
        "the request's head did not arrive in time: the limit is " + limit.toSeconds() + " s");
  }

  /** The whole reply to a request whose body did not arrive in time. */
  static byte[] slowBody(Duration limit) {
    return slow(
        "the request's body did not arrive in time: the limit is "
            + limit.toSeconds()
            + " s and one second more for each 64 KiB");
  }

  private static byte[] slow(String message) {
    byte[] body = ApiErrors.body(invalid(408, "request_timeout", message));
    String head =
        "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nConnection: close\r\n"
            + "Content-Length: "
            + body.length
            + "\r\n\r\n";
    ByteArrayOutputStream reply = new ByteArrayOutputStream(head.length() + body.length);
    reply.writeBytes(head.getBytes(US_ASCII));
    reply.writeBytes(body);
    return reply.toByteArray();
  }

  /** A failure of the server's own, of which its log says more. */
  ApiError internal() {
    return new ApiError(
        500,
        "server_error",
        "internal_error",
        "the " + server + " failed on this request; its log says more",
        null,
        null);
  }

  /**
   * A path that is there has not this method.
   *
   * @param allowed those that it has, as the header {@code Allow} names them
   */
  static ApiError otherMethod(String allowed) {
    return invalid(
        405, "method_not_allowed", "this path is called with " + allowed.replace(", ", " or "));
  }

  private String tooLong(String what, int bytes) {
    return "the request's " + what + bytes + " bytes, which is this " + server + "'s limit";
  }

  private static ApiError invalid(int status, String code, String message) {
    return new ApiError(status, "invalid_request_error", code, message, null, null);
  }
}
