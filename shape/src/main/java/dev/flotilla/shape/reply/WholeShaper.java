package dev.flotilla.shape.reply;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.wire.openai.ChunkScan;
import dev.flotilla.wire.text.Json;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Makes of a reply that came whole what its {@link ReplyForm} wants: it is one large chunk to a
 * {@link StreamShaper}, so that whatever is made the same in a stream is made the same here.
 */
public final class WholeShaper {
  private final ReplyForm form;
  private final Supplier<String> ids;

  /**
   * @param ids makes ids for tool calls that come without one
   */
  public WholeShaper(ReplyForm form, Supplier<String> ids) {
    this.form = form;
    this.ids = ids;
  }

  /**
   * The reply that was just scanned, byte for byte but for the model's name and llama-server's
   * {@code timings}, where nothing else is to be changed in it; otherwise null.
   */
  public byte @Nullable [] asItCame(ChunkScan scan, byte[] reply) {
    boolean right =
        scan.plainWhole()
            && form.answer() == 0
            && form.asked().answers() == 1
            && form.textPasses()
            && form.keepsFingerprint()
            && form.asked().keptExtras().isEmpty()
            && (!scan.hasReasoning() || form.reasoningPasses());
    if (!right) {
      return null;
    }
    return form.dialect() == Dialect.LLAMA_SERVER
        ? scan.withModelAlone(reply)
        : scan.withModel(reply);
  }

  /** The reply as it is to be; empty where only the model's name is to be changed in it. */
  public Optional<ObjectNode> shape(ObjectNode reply) {
    StreamShaper stream = new StreamShaper(form, ids, null);
    Assembly assembly = new Assembly(form);
    stream.shape(asChunk(reply)).forEach(assembly::add);
    ObjectNode whole = assembly.whole(stream.usage());
    ObjectNode named = reply.has("model") ? reply.deepCopy().put("model", form.model()) : reply;
    return form.asked().answers() == 1 && whole.equals(named)
        ? Optional.empty()
        : Optional.of(whole);
  }

  private static ObjectNode asChunk(ObjectNode reply) {
    ObjectNode chunk = Json.MAPPER.createObjectNode();
    chunk.setAll(reply);
    ArrayNode choices = chunk.putArray("choices");
    for (JsonNode each : reply.path("choices")) {
      if (each instanceof ObjectNode choice) {
        choices.add(asDelta(choice));
      }
    }
    return chunk;
  }

  private static ObjectNode asDelta(ObjectNode choice) {
    ObjectNode chunk = choice.deepCopy();
    JsonNode message = chunk.remove("message");
    if (message instanceof ObjectNode delta) {
      int index = 0;
      for (JsonNode call : delta.path("tool_calls")) {
        if (call instanceof ObjectNode each) {
          each.put("index", index++);
        }
      }
      chunk.set("delta", delta);
    }
    return chunk;
  }
}
