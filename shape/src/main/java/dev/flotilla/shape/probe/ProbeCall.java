package dev.flotilla.shape.probe;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * One request of a probe. Always a {@code POST} of JSON; who sends it adds the headers that the
 * server wants.
 *
 * @param path such as {@code /v1/chat/completions}
 * @param body as it is sent; of one probe it may be no JSON
 */
public record ProbeCall(String path, String body) {

  /** The body in UTF-8. */
  public byte[] bytes() {
    return body.getBytes(UTF_8);
  }
}
