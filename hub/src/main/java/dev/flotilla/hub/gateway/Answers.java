package dev.flotilla.hub.gateway;

import dev.flotilla.shape.reply.SeveralAnswers;
import dev.flotilla.shape.reply.StreamShaper;
import dev.flotilla.shape.request.Asked;
import dev.flotilla.wire.openai.ApiError;
import dev.flotilla.wire.text.Json;
import io.helidon.webserver.CloseConnectionException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/**
 * The answers of one reply as they come, one after the other: most replies have one. For the
 * request's thread.
 */
final class Answers {
  private final Asked asked;
  private final ClientStream stream;
  private final List<ObjectNode> wholes = new ArrayList<>(1);
  private @Nullable ObjectNode usage;
  private @Nullable StreamShaper latest;
  private int complete;

  Answers(Asked asked, ClientStream stream) {
    this.asked = asked;
    this.stream = stream;
  }

  /** The stream to the client; unused where the reply goes whole. */
  ClientStream stream() {
    return stream;
  }

  /** Which answer is being sought, from 0. */
  int index() {
    return complete;
  }

  boolean allThere() {
    return complete == asked.answers();
  }

  /** The shaper of the answer before, whose head the next one shares; null for the first. */
  @Nullable StreamShaper before() {
    return latest;
  }

  /** One answer has been streamed; with the last one the stream ends. */
  void streamed(StreamShaper shaper, @Nullable ObjectNode cost) throws ClientGone {
    complete++;
    latest = shaper;
    usage = SeveralAnswers.cost(asked, usage, cost);
    if (!allThere()) {
      return;
    }
    ObjectNode told = usage;
    if (told != null && asked.scanned().includeUsage()) {
      stream.chunk(shaper.usageChunk(told));
    }
    stream.done();
  }

  /** One answer has come whole. */
  void whole(ObjectNode reply) {
    complete++;
    wholes.add(reply);
  }

  /** All of them in one reply. */
  byte[] joined() {
    return Json.MAPPER.writeValueAsBytes(SeveralAnswers.join(asked, wholes));
  }

  /** Tells the client that its stream is incomplete; its connection is to be closed. */
  CloseConnectionException cutOff(Exchange exchange, String reason) throws ClientGone {
    ApiError error =
        new ApiError(
            502,
            "server_error",
            "stream_cut",
            "the answer is incomplete: " + reason + "; ask again",
            null,
            null);
    exchange.end(200, "cut", error.code());
    stream.failed(error);
    return new CloseConnectionException("the stream was cut, and its client told");
  }
}
