package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Dialect;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Vectors are told in one form. llama-server repeats beside each vector in base64 how it is
 * written: {@code {"embedding":"…","index":0,"object":"embedding","encoding_format":"base64"}}.
 */
public final class EmbeddingsForm {
  private static final String FORMAT = "encoding_format";

  private EmbeddingsForm() {}

  /** Whether more than the model's name may have to be changed in the reply. */
  public static boolean differs(ReplyForm form) {
    return form.dialect() == Dialect.LLAMA_SERVER
        && form.asked().value(FORMAT).asString("").equals("base64");
  }

  /** The reply as it is to be; the same object, changed. */
  public static ObjectNode shape(ObjectNode reply, ReplyForm form) {
    reply.put("model", form.model());
    for (JsonNode each : reply.path("data")) {
      if (each instanceof ObjectNode vector) {
        vector.remove(FORMAT);
      }
    }
    return reply;
  }
}
