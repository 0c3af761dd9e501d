package dev.flotilla.shape.request;

import dev.flotilla.shape.dialect.Dialect;
import dev.flotilla.shape.request.EngineRequest.Place;
import dev.flotilla.wire.openai.RequestScan.Endpoint;
import dev.flotilla.wire.openai.RequestScan.Field;
import dev.flotilla.wire.text.Json;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * A stream is asked for where the client wants the answer whole, if the engine does not notice
 * otherwise that its client left; and the usage where the client does not want it, since the hub
 * does. llama-server tells what it counted anyway. mlx-lm ends a stream without its end mark where
 * {@code stream_options} has no {@code include_usage}.
 */
final class UpstreamStream implements RequestDifference {
  @Override
  public void edit(Asked asked, Place place, BodyEdits edits) {
    if (!asked.streamedBy(place.dialect())) {
      return;
    }
    if (!asked.streamed()) {
      edits.set("stream", "true");
    }
    boolean told =
        place.dialect() == Dialect.LLAMA_SERVER || asked.endpoint() == Endpoint.EMBEDDINGS;
    if (!told && !asked.scanned().includeUsage()) {
      edits.set("stream_options", options(asked));
    }
  }

  private static String options(Asked asked) {
    @Nullable Field given = asked.streamed() ? asked.scanned().field("stream_options") : null;
    ObjectNode options =
        given == null || given.isNull()
            ? Json.MAPPER.createObjectNode()
            : (ObjectNode)
                Json.MAPPER.readTree(
                    asked.scanned().body(), given.valueFrom(), given.valueTo() - given.valueFrom());
    return options.put("include_usage", true).toString();
  }
}
