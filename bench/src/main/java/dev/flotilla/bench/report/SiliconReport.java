package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Engine;
import dev.flotilla.bench.measure.Engine.AtConcurrency;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Guards;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.SiliconFigures;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Function;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Engines beside one another, as SiliconBench prints and saves them ({@code
 * scripts/generate_report.py}, {@code scripts/collect_results.py}): what reads its files reads
 * these.
 */
public final class SiliconReport {
  private static final DateTimeFormatter TIMESTAMP =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss");
  private static final double GIGABYTE = 1e9;

  private SiliconReport() {}

  /** A row of the comparison. */
  private record Row(String label, int decimals, Function<SiliconFigures, OptionalDouble> figure) {
    static Row of(String label, int decimals, Function<SiliconFigures, Double> figure) {
      return new Row(label, decimals, f -> OptionalDouble.of(figure.apply(f)));
    }
  }

  private static final List<Row> ROWS =
      List.of(
          Row.of("TTFT avg (ms)", 1, SiliconFigures::ttftAvgMs),
          Row.of("TTFT p50 (ms)", 1, SiliconFigures::ttftP50Ms),
          Row.of("TTFT p99 (ms)", 1, SiliconFigures::ttftP99Ms),
          Row.of("Throughput avg (tok/s)", 1, SiliconFigures::throughputAvgTps),
          Row.of("Output throughput (tok/s)", 1, SiliconFigures::outputThroughputTps),
          new Row("Input throughput (tok/s)", 1, SiliconFigures::inputThroughputTps),
          new Row("Total token throughput (tok/s)", 1, SiliconFigures::totalTokenThroughputTps),
          Row.of("ITL avg (ms)", 1, SiliconFigures::itlAvgMs),
          Row.of("ITL p50 (ms)", 1, SiliconFigures::itlP50Ms),
          Row.of("Latency avg (s)", 2, SiliconFigures::latencyAvgSeconds),
          Row.of("Latency p99 (s)", 2, SiliconFigures::latencyP99Seconds),
          Row.of("Wall time (s)", 1, SiliconFigures::wallSeconds));

  /** All concurrencies that any engine has, in the order in which they come first. */
  public static List<Integer> concurrencies(List<Engine> engines) {
    return engines.stream()
        .flatMap(engine -> engine.levels().stream())
        .map(AtConcurrency::concurrency)
        .distinct()
        .toList();
  }

  /** The engines at one concurrency: one column each. */
  public static TextTable table(List<Engine> engines, int concurrency) {
    List<String> header = new ArrayList<>(List.of("Metric"));
    engines.forEach(engine -> header.add(engine.name()));
    TextTable table = new TextTable(header.toArray(String[]::new));
    table.row(cells("Successful / Failed", engines, concurrency, SiliconReport::outcome));
    for (Row row : ROWS) {
      table.row(
          cells(
              row.label(),
              engines,
              concurrency,
              level ->
                  figures(level)
                      .map(row.figure())
                      .filter(OptionalDouble::isPresent)
                      .map(value -> SweepTable.number(value.getAsDouble(), row.decimals()))
                      .orElse("N/A")));
    }
    table.row(
        cells(
            "Peak memory (GB)",
            engines,
            concurrency,
            level ->
                level.peakBytes().isPresent()
                    ? SweepTable.number(level.peakBytes().getAsLong() / GIGABYTE, 2)
                    : "N/A"));
    return table;
  }

  private static String[] cells(
      String label, List<Engine> engines, int concurrency, Function<AtConcurrency, String> cell) {
    List<String> cells = new ArrayList<>(List.of(label));
    for (Engine engine : engines) {
      cells.add(
          engine.levels().stream()
              .filter(level -> level.concurrency() == concurrency)
              .findFirst()
              .map(cell)
              .orElse("NOT RUN"));
    }
    return cells.toArray(String[]::new);
  }

  private static String outcome(AtConcurrency level) {
    if (level.crashed()) {
      return "CRASHED";
    }
    return figures(level).map(f -> f.successful() + " / " + f.failed()).orElse("CRASHED");
  }

  private static Optional<SiliconFigures> figures(AtConcurrency level) {
    return level.result().filter(r -> !level.crashed()).map(r -> r.summary().own().silicon());
  }

  /** All tables as Markdown: what SiliconBench calls {@code REPORT.md}. */
  public static String markdown(List<Engine> engines) {
    StringBuilder text = new StringBuilder();
    for (int concurrency : concurrencies(engines)) {
      text.append("## Concurrency: ").append(concurrency).append("\n\n");
      text.append(table(engines, concurrency).markdown()).append('\n');
    }
    text.append("## Total Benchmark Duration\n\n");
    List<String> header = new ArrayList<>(List.of("Framework"));
    List<String> durations = new ArrayList<>(List.of("Duration"));
    for (Engine engine : engines) {
      header.add(engine.name());
      durations.add(
          engine.totalSeconds() >= 60
              ? SweepTable.number(engine.totalSeconds() / 60, 1) + "m"
              : SweepTable.number(engine.totalSeconds(), 1) + "s");
    }
    TextTable table = new TextTable(header.toArray(String[]::new));
    table.row(durations.toArray(String[]::new));
    return text.append(table.markdown()).toString();
  }

  /** One engine's result in the form of {@code results/MODEL/SPLIT/FRAMEWORK_TIME.json}. */
  public static ObjectNode json(Engine engine, ZoneId zone) {
    ObjectNode json = ResultJson.MAPPER.createObjectNode();
    json.put("framework", engine.name());
    json.put("framework_version", engine.version().orElse(null));
    json.put("model", engine.model());
    json.put("endpoint", engine.endpoint());
    json.put("timestamp", LocalDateTime.ofInstant(engine.startedAt(), zone).format(TIMESTAMP));
    json.putObject("machine")
        .put("host", engine.machine().host())
        .put("chip", engine.machine().chip())
        .put("os", engine.machine().os());
    ArrayNode levels = json.putArray("concurrency_results");
    engine.levels().forEach(level -> levels.add(level(level)));
    ObjectNode config = json.putObject("run_config");
    ArrayNode concurrencies = config.putArray("concurrency_levels");
    engine.levels().forEach(level -> concurrencies.add(level.concurrency()));
    config.put("levels_share_server", engine.levelsShareServer());
    json.put("total_duration_s", engine.totalSeconds());
    return json;
  }

  /** All engines' results in the form of {@code comparison.json}. */
  public static ObjectNode comparison(
      List<Engine> engines, String model, String split, ZoneId zone) {
    ObjectNode json = ResultJson.MAPPER.createObjectNode();
    json.put("model_name", model);
    json.put("split", split);
    ArrayNode names = json.putArray("frameworks");
    ObjectNode results = json.putObject("results");
    for (Engine engine : engines) {
      names.add(engine.name());
      results.set(engine.name(), json(engine, zone));
    }
    return json;
  }

  private static ObjectNode level(AtConcurrency level) {
    ObjectNode json = ResultJson.MAPPER.createObjectNode();
    json.put("concurrency", level.concurrency());
    json.put("num_requests", level.requests());
    if (level.result().isEmpty()) {
      return json.put("successful", 0)
          .put("failed", level.requests())
          .put("wall_time_s", 0)
          .put("error", level.error());
    }
    Result result = level.result().get();
    SiliconFigures figures = result.summary().own().silicon();
    json.put("successful", figures.successful());
    json.put("failed", figures.failed());
    if (figures.successful() == 0) {
      json.put("wall_time_s", figures.wallSeconds());
      json.put("error", "no successful requests");
    } else {
      figures(json, figures);
    }
    ArrayNode errors = json.putArray("error_samples");
    figures.errorSamples().forEach(errors::add);
    if (level.peakBytes().isPresent()) {
      json.put("mem_used_gb", Math.round(level.peakBytes().getAsLong() / GIGABYTE * 100) / 100.0);
    }
    List<Finding> warnings = new ArrayList<>(Guards.sanity(result));
    level.contradiction().ifPresent(warnings::add);
    if (!warnings.isEmpty()) {
      ArrayNode sanity = json.putArray("sanity_warnings");
      warnings.forEach(warning -> sanity.add(warning.words()));
    }
    return json;
  }

  private static void figures(ObjectNode json, SiliconFigures figures) {
    json.put("total_tokens_generated", figures.totalChunks());
    json.put("total_output_tokens", figures.totalOutputTokens());
    put(json, "tokens_per_chunk", figures.tokensPerChunk());
    if (figures.totalInputTokens().isPresent()) {
      json.put("total_input_tokens", figures.totalInputTokens().getAsLong());
    } else {
      json.putNull("total_input_tokens");
    }
    json.put("server_usage_available", figures.serverUsage());
    json.put("ttft_avg_ms", figures.ttftAvgMs());
    json.put("ttft_p50_ms", figures.ttftP50Ms());
    json.put("ttft_p99_ms", figures.ttftP99Ms());
    json.put("throughput_avg_tps", figures.throughputAvgTps());
    json.put("throughput_p50_tps", figures.throughputP50Tps());
    json.put("itl_avg_ms", figures.itlAvgMs());
    json.put("itl_p50_ms", figures.itlP50Ms());
    json.put("latency_avg_s", figures.latencyAvgSeconds());
    json.put("latency_p50_s", figures.latencyP50Seconds());
    json.put("latency_p99_s", figures.latencyP99Seconds());
    json.put("output_throughput_tps", figures.outputThroughputTps());
    put(json, "input_throughput_tps", figures.inputThroughputTps());
    put(json, "total_token_throughput_tps", figures.totalTokenThroughputTps());
    json.put("wall_time_s", figures.wallSeconds());
  }

  private static void put(ObjectNode json, String name, OptionalDouble value) {
    if (value.isPresent()) {
      json.put(name, value.getAsDouble());
    } else {
      json.putNull(name);
    }
  }
}
