package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Generator;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Stats;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.Shown.Metric;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Results as JSON: the keys of {@code vllm bench serve --save-result} at the top, so that what
 * reads its files reads ours, and everything of ours in one object {@code flotilla} beside them.
 *
 * <p>Latencies of the field's keys are those of {@link Summary}; {@code start_times} are seconds
 * since the start of the run. What {@code metadata} says stands at the top too; {@code label} in it
 * is the field's label.
 */
public final class ResultJson {
  /** Form of the object {@code flotilla}; a reader refuses others. */
  static final int VERSION = 1;

  /** Characters of a result file at most; an appended one may hold many runs. */
  public static final int LONGEST = 256 << 20;

  static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxDocumentLength(LONGEST).build())
                  .build())
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .build();

  private static final String OURS = "flotilla";
  private static final String SWEEP = "flotilla_sweep";
  private static final DateTimeFormatter DATE = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

  private ResultJson() {}

  /**
   * A result.
   *
   * @param detailed whether the requests are in it, as {@code --save-detailed} wants
   * @param zone in which the field's {@code date} is written
   */
  public static ObjectNode of(Result result, boolean detailed, ZoneId zone) {
    ObjectNode json = MAPPER.createObjectNode();
    Run run = result.run();
    Load load = run.load();
    json.put("date", date(run.startedAt(), zone));
    json.put("endpoint_type", load.endpoint());
    json.put("backend", load.endpoint());
    json.putNull("label");
    json.put("model_id", load.model());
    json.putNull("tokenizer_id");
    json.put("num_prompts", load.prompts());
    result.metadata().forEach(json::put);
    if (Double.isInfinite(load.requestRate())) {
      json.put("request_rate", "inf");
    } else {
      json.put("request_rate", load.requestRate());
    }
    if (Double.isInfinite(load.burstiness())) {
      json.put("burstiness", "inf");
    } else {
      json.put("burstiness", load.burstiness());
    }
    load.ramp()
        .ifPresent(ramp ->
            json.put("ramp_up_strategy", ramp.strategy())
                .put("ramp_up_start_rps", ramp.startRps())
                .put("ramp_up_end_rps", ramp.endRps()));
    if (load.maxConcurrency() > 0) {
      json.put("max_concurrency", load.maxConcurrency());
    } else {
      json.putNull("max_concurrency");
    }
    figures(json, result.summary());
    if (detailed) {
      FieldDetails.write(json, run.requests());
    }
    json.set(OURS, ours(result, detailed));
    return json;
  }

  private static void figures(ObjectNode json, Summary summary) {
    json.put("duration", summary.durationSeconds());
    json.put("completed", summary.completed());
    json.put("failed", summary.failed());
    json.put("total_input_tokens", summary.totalInputTokens());
    json.put("total_output_tokens", summary.totalOutputTokens());
    json.put("request_throughput", summary.requestThroughput());
    if (summary.requestGoodput().isPresent()) {
      json.put("request_goodput", summary.requestGoodput().getAsDouble());
    } else {
      json.putNull("request_goodput");
    }
    json.put("output_throughput", summary.outputThroughput());
    json.put("total_token_throughput", summary.totalTokenThroughput());
    json.put("max_output_tokens_per_s", summary.peakOutputThroughput());
    json.put("max_concurrent_requests", summary.peakConcurrentRequests());
    for (Metric metric : Metric.values()) {
      Stats stats = ServingBlock.stats(summary, metric);
      json.put("mean_" + metric.key() + "_ms", stats.mean());
      json.put("median_" + metric.key() + "_ms", stats.median());
      json.put("std_" + metric.key() + "_ms", stats.std());
      stats
          .percentiles()
          .forEach((percent, value) ->
              json.put("p" + Shown.word(percent) + "_" + metric.key() + "_ms", value));
    }
  }

  private static ObjectNode ours(Result result, boolean detailed) {
    ObjectNode ours = MAPPER.createObjectNode();
    Run run = result.run();
    ours.put("version", VERSION);
    ours.set("load", MAPPER.valueToTree(run.load()));
    ours.put("started_at", run.startedAt().toString());
    ours.put("duration_nanos", run.durationNanos());
    ours.put("partial", run.partial());
    ours.set("generator", MAPPER.valueToTree(run.generator()));
    ours.set("summary", MAPPER.valueToTree(result.summary()));
    ours.set("findings", MAPPER.valueToTree(result.findings()));
    ours.set("metadata", MAPPER.valueToTree(result.metadata()));
    if (detailed) {
      ArrayNode requests = ours.putArray("requests");
      run.requests().forEach(request -> requests.add(request(request)));
    }
    return ours;
  }

  private static ObjectNode request(RequestRecord request) {
    ObjectNode json = MAPPER.valueToTree(request);
    // Neither is a property that reads back: the chunks grow, and an outcome is one of two.
    ArrayNode nanos = MAPPER.createArrayNode();
    ArrayNode tokens = MAPPER.createArrayNode();
    for (int chunk = 0; chunk < request.chunks().count(); chunk++) {
      nanos.add(request.chunks().nanos(chunk));
      tokens.add(request.chunks().tokens(chunk));
    }
    json.remove("chunks");
    json.set("chunk_nanos", nanos);
    json.set("chunk_tokens", tokens);
    json.remove("outcome");
    if (request.outcome() instanceof Outcome.Failed failed) {
      json.set("failure", MAPPER.valueToTree(failed));
    }
    return json;
  }

  /** A sweep, with each run of each level as it is alone. */
  public static ObjectNode of(Sweep sweep, boolean detailed, ZoneId zone) {
    ObjectNode json = MAPPER.createObjectNode();
    ObjectNode ours = json.putObject(SWEEP);
    ours.put("version", VERSION);
    ours.set("load", MAPPER.valueToTree(sweep.load()));
    ours.put("started_at", sweep.startedAt().toString());
    ours.set("findings", MAPPER.valueToTree(sweep.findings()));
    ArrayNode levels = ours.putArray("levels");
    for (Level level : sweep.levels()) {
      ObjectNode one = levels.addObject().put("concurrency", level.concurrency());
      ArrayNode runs = one.putArray("runs");
      level.runs().forEach(run -> runs.add(of(run, detailed, zone)));
      // Of the repeats together; a reader finds it again in the runs.
      level
          .contradiction()
          .ifPresent(found -> one.putArray("findings").add(MAPPER.valueToTree(found)));
    }
    return json;
  }

  /** Whether this is a sweep of ours. */
  static boolean isSweep(JsonNode json) {
    return json.has(SWEEP);
  }

  /**
   * Reads a result: ours, or one of {@code vllm bench serve}.
   *
   * @throws BrokenResult if it is neither
   */
  public static Result result(JsonNode json) throws BrokenResult {
    try {
      return json.has(OURS) ? ours(json.get(OURS)) : FieldResult.of(json);
    } catch (JacksonException | IllegalArgumentException e) {
      throw new BrokenResult("no result that can be read: " + reason(e), e);
    }
  }

  /**
   * Reads a sweep of ours.
   *
   * @throws BrokenResult if it is none
   */
  public static Sweep sweep(JsonNode json) throws BrokenResult {
    try {
      JsonNode ours = versioned(json.path(SWEEP));
      List<Level> levels = new ArrayList<>();
      for (JsonNode level : ours.path("levels")) {
        List<Result> runs = new ArrayList<>();
        for (JsonNode run : level.path("runs")) {
          runs.add(result(run));
        }
        levels.add(new Level(level.path("concurrency").asInt(0), runs));
      }
      return new Sweep(
          MAPPER.treeToValue(ours.path("load"), Load.class),
          Instant.parse(ours.path("started_at").asString()),
          levels,
          findings(ours));
    } catch (JacksonException | IllegalArgumentException | DateTimeException e) {
      throw new BrokenResult("no sweep that can be read: " + reason(e), e);
    }
  }

  private static Result ours(JsonNode json) throws BrokenResult {
    JsonNode ours = versioned(json);
    List<RequestRecord> requests = new ArrayList<>();
    for (JsonNode request : ours.path("requests")) {
      requests.add(request((ObjectNode) request));
    }
    Run run =
        new Run(
            required(ours, "load", Load.class),
            required(ours, "started_at", Instant.class),
            ours.path("duration_nanos").asLong(),
            requests,
            ours.path("partial").asBoolean(),
            required(ours, "generator", Generator.class));
    Map<String, String> metadata =
        MAPPER.treeToValue(
            ours.path("metadata"),
            MAPPER.constructType(new TypeReference<Map<String, String>>() {}));
    return new Result(run, required(ours, "summary", Summary.class), findings(ours), metadata);
  }

  private static RequestRecord request(ObjectNode json) {
    ObjectNode rest = json.deepCopy();
    Chunks chunks = new Chunks();
    JsonNode nanos = json.path("chunk_nanos");
    JsonNode tokens = json.path("chunk_tokens");
    for (int chunk = 0; chunk < nanos.size(); chunk++) {
      int sofar = tokens.path(chunk).asInt(0);
      if (sofar > 0) {
        chunks.add(nanos.get(chunk).asLong(), sofar);
      } else {
        chunks.add(nanos.get(chunk).asLong());
      }
    }
    Outcome outcome =
        json.has("failure")
            ? MAPPER.treeToValue(json.get("failure"), Outcome.Failed.class)
            : new Outcome.Succeeded();
    rest.remove(List.of("chunk_nanos", "chunk_tokens", "failure"));
    Plain plain = MAPPER.treeToValue(rest, Plain.class);
    return new RequestRecord(
        plain.index(),
        plain.prompt(),
        plain.scheduledNanos(),
        plain.sentNanos(),
        chunks,
        plain.endNanos(),
        plain.inputTokens(),
        plain.outputTokens(),
        plain.maxTokens(),
        plain.countedBy(),
        plain.finishReason(),
        plain.output(),
        plain.worker(),
        outcome);
  }

  /** What of a request is read as it stands. */
  private record Plain(
      int index,
      String prompt,
      long scheduledNanos,
      long sentNanos,
      long endNanos,
      int inputTokens,
      int outputTokens,
      int maxTokens,
      RequestRecord.CountedBy countedBy,
      Optional<String> finishReason,
      String output,
      Optional<String> worker) {}

  private static JsonNode versioned(JsonNode ours) throws BrokenResult {
    int version = ours.path("version").asInt(0);
    if (version != VERSION) {
      throw new BrokenResult(
          "written in form " + version + ", and this version of flotilla reads form " + VERSION);
    }
    return ours;
  }

  private static <T> T required(JsonNode ours, String name, Class<T> type) throws BrokenResult {
    if (!ours.hasNonNull(name)) {
      throw new BrokenResult("no result that can be read: it has no '" + name + "'");
    }
    return MAPPER.treeToValue(ours.get(name), type);
  }

  private static List<Finding> findings(JsonNode ours) {
    return List.of(MAPPER.treeToValue(ours.path("findings"), Finding[].class));
  }

  static String date(Instant instant, ZoneId zone) {
    return LocalDateTime.ofInstant(instant, zone).format(DATE);
  }

  static String reason(Exception e) {
    String message = e instanceof JacksonException j ? j.getOriginalMessage() : e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message.lines().findFirst().orElse("");
  }
}
