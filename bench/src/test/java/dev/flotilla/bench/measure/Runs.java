package dev.flotilla.bench.measure;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Runs that nobody made: of requests that are told in milliseconds, or of a recorded trace. */
public final class Runs {
  private static final long MILLI = 1_000_000;

  private Runs() {}

  /** A request of 10 tokens, one chunk each: sent at a time, first token and then steps. */
  public static RequestRecord request(int index, long sentMs, long ttftMs, long stepMs) {
    return request(index, sentMs, ttftMs, stepMs, 10, 10, CountedBy.SERVER);
  }

  /** A request whose tokens and chunks may differ. */
  public static RequestRecord request(
      int index,
      long sentMs,
      long ttftMs,
      long stepMs,
      int chunkCount,
      int tokens,
      CountedBy countedBy) {
    Chunks chunks = new Chunks();
    for (int chunk = 0; chunk < chunkCount; chunk++) {
      chunks.add((sentMs + ttftMs + chunk * stepMs) * MILLI);
    }
    return new RequestRecord(
        index,
        "random-" + index,
        sentMs * MILLI,
        sentMs * MILLI,
        chunks,
        (sentMs + ttftMs + (chunkCount - 1) * stepMs) * MILLI,
        32,
        tokens,
        tokens,
        countedBy,
        Optional.of("length"),
        "text of " + index,
        Optional.empty(),
        new Outcome.Succeeded());
  }

  /** A request that failed 5 ms after it was sent. */
  public static RequestRecord failed(int index, long sentMs, Kind kind, String message) {
    return new RequestRecord(
        index,
        "random-" + index,
        sentMs * MILLI,
        sentMs * MILLI,
        new Chunks(),
        (sentMs + 5) * MILLI,
        -1,
        0,
        10,
        CountedBy.CHUNKS,
        Optional.empty(),
        "",
        Optional.empty(),
        new Outcome.Failed(kind, message));
  }

  /** A closed loop. */
  public static Load closed(int concurrency, int prompts) {
    return new Load(
        "http://127.0.0.1:8484/v1",
        "SmolLM2-135M",
        "openai-chat",
        "random 32 in 10 out",
        prompts,
        concurrency,
        Double.POSITIVE_INFINITY,
        1,
        42);
  }

  /** A run of these requests, as long as they are. */
  public static Run run(int concurrency, List<RequestRecord> requests) {
    return new Run(
        closed(concurrency, requests.size()),
        Instant.parse("2026-09-14T10:15:00Z"),
        requests.stream().mapToLong(RequestRecord::endNanos).max().orElse(0),
        requests,
        false);
  }

  /**
   * A run without anything to find: so many streams, each of which makes its requests one after the
   * other.
   */
  public static Run steady(int streams, int requestsEach, long ttftMs, long stepMs) {
    List<RequestRecord> requests = new ArrayList<>();
    for (int turn = 0; turn < requestsEach; turn++) {
      for (int stream = 0; stream < streams; stream++) {
        requests.add(request(requests.size(), turn * (ttftMs + 9 * stepMs), ttftMs, stepMs));
      }
    }
    return run(streams, requests);
  }

  /** Figures and findings, of a server of which nothing is known. */
  public static Result result(Run run) {
    return Result.of(run, Goals.NONE, Summary.PERCENTILES, Conditions.UNKNOWN, Map.of());
  }

  /** The recorded trace. */
  public static Run trace() {
    JsonNode trace = json("trace.json");
    List<RequestRecord> requests = new ArrayList<>();
    for (JsonNode request : trace.path("requests")) {
      requests.add(recorded(requests.size(), request));
    }
    return new Run(
        new Load(
            "http://127.0.0.1:8484/v1",
            "HuggingFaceTB/SmolLM2-135M",
            "openai-chat",
            "chat",
            requests.size(),
            0,
            4,
            1,
            7),
        Instant.parse("2026-09-14T10:15:00Z"),
        trace.path("duration_nanos").asLong(),
        requests,
        false);
  }

  private static RequestRecord recorded(int index, JsonNode json) {
    Chunks chunks = new Chunks();
    for (JsonNode chunk : json.path("chunks")) {
      if (chunk.get(1).asInt() == 0) {
        chunks.add(chunk.get(0).asLong());
      } else {
        chunks.add(chunk.get(0).asLong(), chunk.get(1).asInt());
      }
    }
    return new RequestRecord(
        index,
        "chat-" + index,
        json.path("scheduled").asLong(),
        json.path("sent").asLong(),
        chunks,
        json.path("end").asLong(),
        json.path("input_tokens").asInt(),
        json.path("output_tokens").asInt(),
        json.path("max_tokens").asInt(),
        CountedBy.SERVER,
        Optional.ofNullable(json.path("finish_reason").asString(null)),
        "answer " + index,
        Optional.ofNullable(json.path("worker").asString(null)),
        json.has("failure")
            ? new Outcome.Failed(
                Kind.valueOf(json.path("failure").path("kind").asString()),
                json.path("failure").path("message").asString())
            : new Outcome.Succeeded());
  }

  /** A file that lies beside the trace. */
  public static JsonNode json(String name) {
    try (InputStream in = Runs.class.getResourceAsStream(name)) {
      return new JsonMapper().readTree(in);
    } catch (IOException e) {
      throw new AssertionError(name, e);
    }
  }
}
