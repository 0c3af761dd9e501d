package dev.flotilla.hub.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.dialect.Promise;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;

/**
 * A thought that a llama-server leaves at the beginning of the text, though its name promises
 * another place for it and it was told so: it is not what was proved. Looked for in the bytes as
 * llama-server writes them, which costs nothing to speak of.
 */
final class LeakedThought {
  static final String WORDS = "left its thought in the text";

  private static final byte[] OPENING = "\"content\":\"<think>".getBytes(US_ASCII);

  private LeakedThought() {}

  /** Whether it is looked for in what this target says. */
  static boolean matters(Target target) {
    Promise promise = target.promise();
    return target.dialect() == Dialect.LLAMA_SERVER
        && promise != null
        && promise.reasoning() != Reasoning.INLINE;
  }

  /** Whether a text begins so in this JSON. */
  static boolean in(byte[] json, int start, int length) {
    int last = start + length - OPENING.length;
    for (int from = start; from <= last; from++) {
      int matched = 0;
      while (matched < OPENING.length && json[from + matched] == OPENING[matched]) {
        matched++;
      }
      if (matched == OPENING.length) {
        return true;
      }
    }
    return false;
  }
}
