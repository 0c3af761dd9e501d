package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A reply before it is written, so that a {@link Lie} can change it anywhere. */
final class PlannedReply {
  int status = 200;
  String contentType;
  final boolean streamed;

  /** The one object of a reply in one piece, or the events of a stream. */
  final List<ObjectNode> objects = new ArrayList<>();

  boolean done = true;
  boolean reset;

  /** What is changed of the bytes, when all else is. */
  UnaryOperator<String> text = UnaryOperator.identity();

  boolean brokenCharacter;

  PlannedReply(boolean streamed) {
    this.streamed = streamed;
    this.contentType = streamed ? "text/event-stream" : "application/json";
  }

  /** Changes every message or delta. */
  void eachMessage(Consumer<ObjectNode> change) {
    eachChoice(choice -> {
      for (String place : List.of("message", "delta")) {
        if (choice.get(place) instanceof ObjectNode message) {
          change.accept(message);
        }
      }
    });
  }

  /** Changes every choice of every object. */
  void eachChoice(Consumer<ObjectNode> change) {
    for (ObjectNode each : objects) {
      for (JsonNode choice : each.path("choices")) {
        change.accept((ObjectNode) choice);
      }
    }
  }

  /** Changes every tool call, or piece of one. */
  void eachCall(Consumer<ObjectNode> change) {
    eachMessage(message -> {
      for (JsonNode call : message.path("tool_calls")) {
        change.accept((ObjectNode) call);
      }
    });
  }

  /** Changes the usage where there is one. */
  void usage(Consumer<ObjectNode> change) {
    for (ObjectNode each : objects) {
      if (each.get("usage") instanceof ObjectNode usage) {
        change.accept(usage);
      }
    }
  }

  /** The event of a stream that tells the usage; null where none does. */
  @Nullable ObjectNode usageChunk() {
    for (ObjectNode each : objects) {
      if (streamed && each.has("usage") && each.path("choices").isEmpty()) {
        return each;
      }
    }
    return null;
  }

  boolean isError() {
    return !objects.isEmpty() && objects.getFirst().has("error");
  }

  void write(Exchange exchange) throws IOException {
    if (reset) {
      exchange.reset();
      return;
    }
    StringBuilder body = new StringBuilder();
    for (ObjectNode each : objects) {
      body.append(streamed ? "data: " + each + "\n\n" : each.toString());
    }
    if (streamed && done) {
      body.append("data: [DONE]\n\n");
    }
    byte[] bytes = text.apply(body.toString()).getBytes(UTF_8);
    exchange.reply(status, contentType, brokenCharacter ? broken(bytes) : bytes);
  }

  /** Half a character in the middle of the first text. */
  private static byte[] broken(byte[] bytes) {
    int at = new String(bytes, UTF_8).indexOf("\"content\":\"");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    int place = at < 0 ? 0 : at + "\"content\":\"".length();
    out.write(bytes, 0, place);
    out.write(0xc3);
    out.write(bytes, place, bytes.length - place);
    return out.toByteArray();
  }
}
