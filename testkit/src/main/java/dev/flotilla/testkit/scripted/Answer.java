package dev.flotilla.testkit.scripted;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * An answer of so many pieces, good unless it is told to be bad. Each method spoils it in one more
 * way and returns it; places are counted in pieces that were sent before, from 0. Set up before it
 * is played; the same answer may be played again and again.
 */
public final class Answer implements Script {
  /** One thing that happens between two pieces. */
  private interface Act {
    void on(Exchange exchange) throws IOException;
  }

  private final List<String> pieces;
  private final Map<Integer, List<Act>> acts = new TreeMap<>();
  private final List<Act> beforeHead = new ArrayList<>();
  private final List<Act> beforeEach = new ArrayList<>();
  private final List<Act> afterDone = new ArrayList<>();
  private boolean http10;
  private boolean withFinishReason = true;
  private boolean withDone = true;
  private String model = "";

  Answer(List<String> pieces) {
    this.pieces = List.copyOf(pieces);
  }

  /** Waits at the gate before anything of the reply is written. */
  public Answer stallBeforeHead(Gate gate) {
    beforeHead.add(exchange -> exchange.await(gate));
    return this;
  }

  /** Waits at the gate when the head is written, before the first event. */
  public Answer stallBeforeFirstByte(Gate gate) {
    return at(-1, exchange -> exchange.await(gate));
  }

  /** Waits at the gate after so many pieces. */
  public Answer stallAfter(int sent, Gate gate) {
    return at(sent, exchange -> exchange.await(gate));
  }

  /** Waits at the gate before each piece: the test lets one after the other through. */
  public Answer gated(Gate gate) {
    beforeEach.add(exchange -> exchange.await(gate));
    return this;
  }

  /** Lets real time pass before each piece: for load, not for order. */
  public Answer gap(Duration time) {
    beforeEach.add(exchange -> exchange.pause(time));
    return this;
  }

  /** Tears the connection down after so many pieces. */
  public Answer dropAfter(int sent) {
    return at(sent, Exchange::reset);
  }

  /** Closes the connection in good order after so many pieces, without the end of the framing. */
  public Answer closeAfter(int sent) {
    return at(sent, Exchange::close);
  }

  /** Tears the connection down when {@code [DONE]} was sent, before the end of the framing. */
  public Answer dropAfterDone() {
    afterDone.add(Exchange::reset);
    return this;
  }

  /** After so many pieces half an event, and the end of the connection. */
  public Answer halfEventAfter(int sent) {
    return at(
        sent,
        exchange -> {
          exchange.body("data: {\"id\":\"chatcmpl-scripted\",\"cho".getBytes(UTF_8));
          exchange.close();
        });
  }

  /** After so many pieces one event that is not UTF-8. */
  public Answer invalidUtf8After(int sent) {
    return at(
        sent,
        exchange -> {
          byte[] event =
              "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"??\"}}]}\n\n"
                  .getBytes(UTF_8);
          int quoted = new String(event, UTF_8).indexOf("??");
          event[quoted] = (byte) 0xc3;
          event[quoted + 1] = (byte) 0x28;
          exchange.body(event);
        });
  }

  /** After so many pieces one event whose data is no JSON. */
  public Answer garbageAfter(int sent) {
    return at(sent, exchange -> exchange.event("{\"this is\": no JSON"));
  }

  /** After so many pieces a comment that keeps the connection alive. */
  public Answer commentAfter(int sent) {
    return at(sent, exchange -> exchange.body(":\n\n".getBytes(UTF_8)));
  }

  /** After so many pieces the error that llama-server sends in mid-stream, then the end. */
  public Answer errorAfter(int sent) {
    return at(
        sent,
        exchange -> {
          exchange.event(
              "{\"error\":{\"code\":500,\"message\":\"context shift failed\","
                  + "\"type\":\"server_error\"}}");
          exchange.endStream();
          throw new IOException("ended with an error");
        });
  }

  /** Every byte is a write of its own. */
  public Answer dripped() {
    beforeHead.add(Exchange::drip);
    return this;
  }

  /** No {@code [DONE]}, and the stream ends in good order. */
  public Answer withoutDone() {
    withDone = false;
    return this;
  }

  /** No chunk with a {@code finish_reason}. */
  public Answer withoutFinishReason() {
    withFinishReason = false;
    return this;
  }

  /** Answers by HTTP/1.0, the stream ends with the connection. */
  public Answer http10() {
    http10 = true;
    return this;
  }

  /** The model's name in the reply, instead of the engine's own. */
  public Answer model(String name) {
    model = name;
    return this;
  }

  private Answer at(int sent, Act act) {
    acts.computeIfAbsent(sent, _ -> new ArrayList<>()).add(act);
    return this;
  }

  @Override
  public void play(Exchange exchange) throws IOException {
    JsonNode request = exchange.request().json();
    run(beforeHead, exchange);
    int limit = tokenLimit(request);
    List<String> said = pieces.subList(0, Math.min(limit, pieces.size()));
    Replies replies =
        new Replies(
            model.isEmpty() ? exchange.engine().model() : model,
            exchange.request().path().contains("/chat/"),
            exchange.engine().promptTokens(request),
            said.size(),
            withFinishReason ? said.size() < pieces.size() ? "length" : "stop" : null);
    if (request.path("stream").asBoolean(false)) {
      boolean usage =
          replies.chat() && request.path("stream_options").path("include_usage").asBoolean(false);
      stream(exchange, replies, said, usage);
    } else {
      whole(exchange, replies, said);
    }
  }

  private void stream(Exchange exchange, Replies replies, List<String> said, boolean usage)
      throws IOException {
    if (http10) {
      exchange.startStreamHttp10();
    } else {
      exchange.startStream();
    }
    if (!actsAt(-1, exchange)) {
      return;
    }
    if (replies.chat()) {
      exchange.event(replies.roleChunk());
    }
    for (int sent = 0; ; sent++) {
      if (!actsAt(sent, exchange)) {
        return;
      }
      if (sent == said.size()) {
        break;
      }
      run(beforeEach, exchange);
      exchange.event(replies.chunk(said.get(sent)));
    }
    if (withFinishReason) {
      exchange.event(replies.finishChunk(!usage));
    }
    if (usage) {
      exchange.event(replies.usageChunk());
    }
    if (withDone) {
      exchange.event("[DONE]");
    }
    run(afterDone, exchange);
    if (!exchange.closed()) {
      exchange.endStream();
    }
  }

  /** A reply that is not streamed: what happens between pieces happens before it is sent. */
  private void whole(Exchange exchange, Replies replies, List<String> said) throws IOException {
    for (int sent = -1; sent <= said.size(); sent++) {
      if (!actsAt(sent, exchange)) {
        return;
      }
      if (sent >= 0 && sent < said.size()) {
        run(beforeEach, exchange);
      }
    }
    byte[] body = replies.whole(String.join("", said)).getBytes(UTF_8);
    if (http10) {
      exchange.raw("HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n");
      exchange.raw(body);
      exchange.close();
    } else {
      exchange.reply(200, "application/json; charset=utf-8", body);
    }
    run(afterDone, exchange);
  }

  private static int tokenLimit(JsonNode request) {
    for (String field : List.of("max_completion_tokens", "max_tokens")) {
      int limit = request.path(field).asInt(-1);
      if (limit >= 0) {
        return limit;
      }
    }
    return Integer.MAX_VALUE;
  }

  /** Runs what was asked for at that place; false where that ended the connection. */
  private boolean actsAt(int sent, Exchange exchange) throws IOException {
    run(acts.getOrDefault(sent, List.of()), exchange);
    return !exchange.closed();
  }

  private static void run(List<Act> acts, Exchange exchange) throws IOException {
    for (Act act : acts) {
      if (!exchange.closed()) {
        act.on(exchange);
      }
    }
  }
}
