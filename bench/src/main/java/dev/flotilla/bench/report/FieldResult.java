package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.Generator;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Stats;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.report.Shown.Metric;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;

/**
 * Reads a result that {@code vllm bench serve} saved. Its figures are taken as they stand; what
 * only we have stays empty. Requests come with it where it was saved with {@code --save-detailed}.
 * The number of values behind a figure is not in such a file: TTFT and E2EL have one for each
 * completed request, and for the others 0 is said.
 */
final class FieldResult {
  private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  private final JsonNode json;

  private FieldResult(JsonNode json) {
    this.json = json;
  }

  /**
   * The result.
   *
   * @throws BrokenResult if it is none
   */
  static Result of(JsonNode json) throws BrokenResult {
    return new FieldResult(json).result();
  }

  private Result result() throws BrokenResult {
    double duration = number("duration");
    Load load =
        new Load(
            "",
            json.path("model_id").asString(""),
            json.path("endpoint_type").asString(""),
            "",
            json.path("num_prompts").asInt(0),
            json.path("max_concurrency").asInt(0),
            rate("request_rate"),
            rate("burstiness"),
            0,
            ramp());
    Run run =
        new Run(
            load, startedAt(), Math.round(duration * 1e9), requests(), false, Generator.UNOBSERVED);
    String label = json.path("label").asString("");
    return new Result(
        run,
        summary(run, duration),
        List.of(),
        label.isEmpty() ? Map.of() : Map.of("label", label));
  }

  private Summary summary(Run run, double duration) throws BrokenResult {
    int completed = (int) number("completed");
    return new Summary(
        completed,
        json.path("failed").asInt(0),
        duration,
        (long) number("total_input_tokens"),
        (long) number("total_output_tokens"),
        number("request_throughput"),
        json.path("request_goodput").isNumber()
            ? OptionalDouble.of(json.path("request_goodput").asDouble())
            : OptionalDouble.empty(),
        number("output_throughput"),
        json.path("total_token_throughput").asDouble(0),
        json.path("max_output_tokens_per_s").asDouble(0),
        json.path("max_concurrent_requests").asInt(0),
        stats(Metric.TTFT, completed),
        stats(Metric.TPOT, 0),
        stats(Metric.ITL, 0),
        stats(Metric.E2EL, completed),
        Summary.of(run).own());
  }

  private Stats stats(Metric metric, int count) {
    String end = "_" + metric.key() + "_ms";
    SortedMap<Double, Double> percentiles = new TreeMap<>();
    for (Map.Entry<String, JsonNode> property : json.properties()) {
      String name = property.getKey();
      if (name.startsWith("p") && name.endsWith(end) && property.getValue().isNumber()) {
        try {
          percentiles.put(
              Double.parseDouble(name.substring(1, name.length() - end.length())),
              property.getValue().asDouble());
        } catch (NumberFormatException e) {
          // Some other key that is built alike: not ours to read.
        }
      }
    }
    return new Stats(
        count,
        json.path("mean" + end).asDouble(0),
        json.path("median" + end).asDouble(0),
        json.path("std" + end).asDouble(0),
        0,
        0,
        percentiles);
  }

  private List<RequestRecord> requests() {
    JsonNode starts = json.path("start_times");
    double first = Double.POSITIVE_INFINITY;
    for (JsonNode start : starts) {
      first = Math.min(first, start.asDouble());
    }
    List<RequestRecord> requests = new ArrayList<>();
    for (int index = 0; index < starts.size(); index++) {
      requests.add(request(index, nanos(starts.get(index).asDouble() - first)));
    }
    return requests;
  }

  private RequestRecord request(int index, long start) {
    Chunks chunks = new Chunks();
    String error = json.path("errors").path(index).asString("");
    double ttft = json.path("ttfts").path(index).asDouble(0);
    double at = ttft;
    if (ttft > 0) {
      chunks.add(start + nanos(at));
      for (JsonNode gap : json.path("itls").path(index)) {
        at += gap.asDouble();
        chunks.add(start + nanos(at));
      }
    }
    return new RequestRecord(
        index,
        "prompt-" + index,
        start,
        start,
        chunks,
        start + nanos(json.path("latencies").path(index).asDouble(at)),
        json.path("input_lens").path(index).asInt(-1),
        json.path("output_lens").path(index).asInt(chunks.count()),
        CountedBy.SERVER,
        Optional.empty(),
        json.path("generated_texts").path(index).asString(""),
        Optional.empty(),
        error.isEmpty() && chunks.count() > 0
            ? new Outcome.Succeeded()
            : new Outcome.Failed(Kind.MALFORMED, error.isEmpty() ? "no output" : error));
  }

  private double number(String name) throws BrokenResult {
    JsonNode value = json.path(name);
    if (!value.isNumber()) {
      throw new BrokenResult(
          "no result of a benchmark: it has no '"
              + name
              + "' (results of 'flotilla bench' and of 'vllm bench serve' are read)");
    }
    return value.asDouble();
  }

  private Optional<Load.Ramp> ramp() {
    String strategy = json.path("ramp_up_strategy").asString("");
    return strategy.isEmpty()
        ? Optional.empty()
        : Optional.of(
            new Load.Ramp(
                strategy,
                json.path("ramp_up_start_rps").asDouble(0),
                json.path("ramp_up_end_rps").asDouble(0)));
  }

  private double rate(String name) {
    JsonNode value = json.path(name);
    return value.isNumber() ? value.asDouble() : Double.POSITIVE_INFINITY;
  }

  /** Such a file says no zone: it is taken as if written in UTC. */
  private Instant startedAt() {
    try {
      return LocalDateTime.parse(json.path("date").asString(""), DATE).toInstant(ZoneOffset.UTC);
    } catch (DateTimeParseException e) {
      return Instant.EPOCH;
    }
  }

  private static long nanos(double seconds) {
    return Math.round(seconds * 1e9);
  }
}
