package dev.flotilla.hub.proof;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.flotilla.wire.connection.Connection;
import dev.flotilla.wire.connection.Deadline;
import dev.flotilla.wire.connection.DeadlineLimits;
import dev.flotilla.wire.connection.Deadlines;
import dev.flotilla.wire.connection.Origin;
import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import dev.flotilla.wire.http.HttpReply;
import dev.flotilla.wire.http.SseReader;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * The questions of a proof on their way to one OpenAI-compatible address, a connection each. Safe
 * for any number of threads; an interrupt ends what runs.
 */
final class Line {
  static final JsonMapper MAPPER = JsonMapper.builder().build();
  private static final int REPLY_BYTES_MAX = 4 << 20;
  private static final Duration CONNECT = Duration.ofSeconds(5);

  private final Origin origin;
  private final HttpHeaders headers;
  private final Deadlines deadlines;
  private final LongSupplier nanoClock;

  /**
   * @param address without a path
   * @param key bearer token, empty for none
   */
  Line(URI address, String key, Deadlines deadlines, LongSupplier nanoClock) {
    this.origin = new Origin(address, Optional.empty());
    HttpHeaders all = HttpHeaders.of("content-type", "application/json");
    this.headers = key.isEmpty() ? all : all.with("authorization", "Bearer " + key);
    this.deadlines = deadlines;
    this.nanoClock = nanoClock;
  }

  /** A reply with its status. */
  record Whole(int status, JsonNode body) {
    boolean ok() {
      return status == 200;
    }

    /** What went wrong, in the server's words. */
    String error() {
      String message = body.path("error").path("message").asString("");
      return status + (message.isEmpty() ? "" : ": " + message);
    }
  }

  /**
   * Asks and takes the whole reply in.
   *
   * @throws IOException where none came within the limit, or it is no JSON; with words for people
   */
  Whole ask(String path, ObjectNode body, Duration limit) throws IOException {
    try (Connection connection = origin.connect(CONNECT);
        Deadline deadline = deadlines.watch(connection, new DeadlineLimits(limit, limit, limit))) {
      try {
        HttpReply reply = exchange(connection, path, body);
        return new Whole(reply.status(), MAPPER.readTree(reply.bytes(REPLY_BYTES_MAX)));
      } catch (JacksonException e) {
        throw new IOException("the reply is no JSON", e);
      } catch (IOException e) {
        throw deadline.explain(e);
      }
    }
  }

  private HttpReply exchange(Connection connection, String path, ObjectNode body)
      throws IOException {
    Http1 http = new Http1(connection, origin.hostHeader(), Http1Limits.DEFAULTS);
    return http.exchange(
        HttpCall.post(path, headers, MAPPER.writeValueAsString(body).getBytes(UTF_8)));
  }

  /**
   * A streamed answer, as far as it came.
   *
   * @param sentNanos when it was asked for
   * @param firstNanos when its first text was there, 0 where none came
   * @param lastNanos when its last text was there
   * @param pieces events with text
   * @param completionTokens by its usage, -1 where that did not come
   * @param promptTokens by its usage, -1 where that did not come
   * @param cachedTokens of these, those that were not computed
   * @param whole whether it came to its end
   */
  record Streamed(
      long sentNanos,
      long firstNanos,
      long lastNanos,
      int pieces,
      int completionTokens,
      int promptTokens,
      int cachedTokens,
      boolean whole,
      String text) {

    int tokens() {
      return whole && completionTokens >= 0 ? completionTokens : pieces;
    }

    /** Tokens a second, from the first to the last; 0 where there are too few. */
    double decode() {
      int tokens = tokens();
      return tokens < 2 || lastNanos <= firstNanos
          ? 0
          : (tokens - 1) * 1e9 / (lastNanos - firstNanos);
    }
  }

  /**
   * Asks for a stream and reads it to its end, or until the limit is over: what came until then is
   * given back, also where that is nothing.
   *
   * @throws IOException where it was refused, or broke off before the limit
   */
  Streamed stream(String path, ObjectNode body, Duration limit) throws IOException {
    body.put("stream", true);
    body.putObject("stream_options").put("include_usage", true);
    long sent = nanoClock.getAsLong();
    Reading reading = new Reading();
    try (Connection connection = origin.connect(CONNECT);
        Deadline deadline = deadlines.watch(connection, new DeadlineLimits(limit, limit, limit))) {
      try {
        HttpReply reply = exchange(connection, path, body);
        if (reply.status() != 200) {
          throw new IOException(
              new Whole(reply.status(), MAPPER.readTree(reply.bytes(REPLY_BYTES_MAX))).error());
        }
        SseReader events = new SseReader(reply.body(), SseReader.EVENT_BYTES_MAX);
        while (events.next()) {
          if (events.hasData() && !events.isDone()) {
            reading.event(events, nanoClock.getAsLong());
          }
          if (events.isDone()) {
            reading.whole = true;
            break;
          }
        }
      } catch (JacksonException e) {
        throw new IOException("an event is no JSON", e);
      } catch (IOException e) {
        if (deadline.exceeded().isEmpty()) {
          throw e;
        }
      }
    }
    if (!reading.error.isEmpty()) {
      throw new IOException(reading.error);
    }
    return reading.streamed(sent);
  }

  private static final class Reading {
    private long first;
    private long last;
    private int pieces;
    private int completionTokens = -1;
    private int promptTokens = -1;
    private int cachedTokens;
    private boolean whole;
    private String error = "";
    private final StringBuilder text = new StringBuilder();

    void event(SseReader events, long now) {
      JsonNode chunk =
          MAPPER.readTree(
              new String(events.dataBuffer(), events.dataStart(), events.dataLength(), UTF_8));
      if (chunk.has("error")) {
        error = chunk.path("error").path("message").asString("the stream ended with an error");
      }
      JsonNode usage = chunk.path("usage");
      if (usage.isObject()) {
        completionTokens = usage.path("completion_tokens").asInt(-1);
        promptTokens = usage.path("prompt_tokens").asInt(-1);
        cachedTokens = usage.at("/prompt_tokens_details/cached_tokens").asInt(0);
      }
      JsonNode delta = chunk.at("/choices/0/delta");
      StringBuilder said = new StringBuilder();
      for (String field : new String[] {"reasoning_content", "reasoning", "content"}) {
        said.append(delta.path(field).asString(""));
      }
      said.append(chunk.at("/choices/0/text").asString(""));
      if (!said.isEmpty()) {
        first = first == 0 ? now : first;
        last = now;
        pieces++;
        text.append(said);
      }
    }

    Streamed streamed(long sent) {
      return new Streamed(
          sent,
          first,
          last,
          pieces,
          completionTokens,
          promptTokens,
          cachedTokens,
          whole,
          text.toString());
    }
  }
}
