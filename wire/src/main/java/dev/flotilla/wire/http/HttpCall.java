package dev.flotilla.wire.http;

/**
 * One request to an engine. {@code Host} and {@code Content-Length} are written by {@link Http1};
 * the headers hold the rest.
 *
 * <p>The body is not copied: whoever hands it in leaves it alone until the reply has come.
 */
public final class HttpCall {
  private static final byte[] NO_BODY = new byte[0];

  private final String method;
  private final String target;
  private final HttpHeaders headers;
  private final byte[] body;

  /**
   * @param method an upper-case token, such as {@code POST}
   * @param target path and query, beginning with {@code /}
   * @throws IllegalArgumentException if method, target or a header could not be written as one
   *     line, or a header is one of those that the client writes itself
   */
  public HttpCall(String method, String target, HttpHeaders headers, byte[] body) {
    if (method.isEmpty() || !within(method, 'A', 'Z')) {
      throw new IllegalArgumentException("a method is an upper-case word");
    }
    if (!target.startsWith("/") || !within(target, '!', '~')) {
      throw new IllegalArgumentException(
          "a target begins with / and holds neither spaces nor control characters");
    }
    for (int i = 0; i < headers.size(); i++) {
      String name = headers.name(i);
      if (name.equalsIgnoreCase("host")
          || name.equalsIgnoreCase("content-length")
          || name.equalsIgnoreCase("transfer-encoding")
          || name.equalsIgnoreCase("connection")
          || name.equalsIgnoreCase("expect")
          || name.equalsIgnoreCase("upgrade")) {
        throw new IllegalArgumentException("header " + name + " is not the caller's to write");
      }
    }
    this.method = method;
    this.target = target;
    this.headers = headers;
    this.body = body;
  }

  private static boolean within(String text, char least, char most) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < least || text.charAt(i) > most) {
        return false;
      }
    }
    return true;
  }

  public static HttpCall get(String target, HttpHeaders headers) {
    return new HttpCall("GET", target, headers, NO_BODY);
  }

  public static HttpCall post(String target, HttpHeaders headers, byte[] body) {
    return new HttpCall("POST", target, headers, body);
  }

  public String method() {
    return method;
  }

  public String target() {
    return target;
  }

  public HttpHeaders headers() {
    return headers;
  }

  public byte[] body() {
    return body;
  }
}
