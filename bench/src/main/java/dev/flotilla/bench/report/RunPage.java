package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Chunks;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.measure.Samples;
import dev.flotilla.bench.measure.Stats;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.WorkerShare;
import dev.flotilla.bench.report.Page.Part;
import dev.flotilla.bench.report.Shown.Metric;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The page of one run: its figures, how its latencies are spread, and how it went over time. */
public final class RunPage {
  private static final int SLICES = 60;
  private static final List<Double> PERCENTS =
      List.of(0.0, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 100.0);

  private RunPage() {}

  /** The page. Plots are on it where the result has its requests. */
  public static Page of(Result result) {
    Run run = result.run();
    List<Part> parts = new ArrayList<>();
    parts.add(new Part.Findings(result.findings()));
    parts.add(new Part.Table(figures(result)));
    parts.add(new Part.Table(latencies(result.summary())));
    if (!result.summary().own().workers().isEmpty()) {
      parts.add(new Part.Heading("Workers"));
      parts.add(new Part.Table(workers(result.summary())));
    }
    List<RequestRecord> whole =
        run.requests().stream().filter(r -> r.succeeded() && r.chunks().count() > 0).toList();
    if (!whole.isEmpty()) {
      parts.add(new Part.Heading("How latencies are spread"));
      spread(parts, "Time to first token", ttfts(whole));
      spread(parts, "Time between chunks", gaps(whole));
      parts.add(new Part.Heading("Over time"));
      timeline(parts, run, whole);
    }
    return new Page(
        "Benchmark of " + run.load().model(), where(run.load()) + ", " + run.startedAt(), parts);
  }

  /** The load in one line. */
  static String where(Load load) {
    return load.url()
        + ", "
        + load.dataset()
        + (load.maxConcurrency() > 0 ? ", concurrency " + load.maxConcurrency() : "")
        + load.ramp()
            .map(ramp ->
                ", from %s to %s requests/s (%s)"
                    .formatted(ramp.startRps(), ramp.endRps(), ramp.strategy()))
            .orElse(
                Double.isFinite(load.requestRate())
                    ? ", " + load.requestRate() + " requests/s"
                    : "");
  }

  private static TextTable figures(Result result) {
    Summary summary = result.summary();
    TextTable table = new TextTable("figure", "value");
    table.row("Successful requests", Integer.toString(summary.completed()));
    table.row("Failed requests", Integer.toString(summary.failed()));
    table.row("Benchmark duration (s)", number(summary.durationSeconds()));
    table.row("Total input tokens", Long.toString(summary.totalInputTokens()));
    table.row("Total generated tokens", Long.toString(summary.totalOutputTokens()));
    table.row("Request throughput (req/s)", number(summary.requestThroughput()));
    summary
        .requestGoodput()
        .ifPresent(goodput -> table.row("Request goodput (req/s)", number(goodput)));
    table.row("Output token throughput (tok/s)", number(summary.outputThroughput()));
    table.row("Peak output token throughput (tok/s)", number(summary.peakOutputThroughput()));
    table.row("Peak concurrent requests", Integer.toString(summary.peakConcurrentRequests()));
    table.row("Total token throughput (tok/s)", number(summary.totalTokenThroughput()));
    return table;
  }

  private static TextTable latencies(Summary summary) {
    TextTable table = new TextTable("latency (ms)", "mean", "median", "P99", "least", "most");
    for (Metric metric : Metric.values()) {
      Stats stats = ServingBlock.stats(summary, metric);
      latency(table, metric.title() + " (" + metric.name() + ")", stats);
    }
    summary.own().byToken().ifPresent(t -> latency(table, "ITL by tokens", t.itl()));
    summary
        .own()
        .fromSend()
        .ifPresent(from -> {
          latency(table, "TTFT from the sending", from.ttft());
          latency(table, "E2EL from the sending", from.e2el());
        });
    return table;
  }

  private static void latency(TextTable table, String name, Stats stats) {
    table.row(
        name,
        figure(stats, stats.mean()),
        figure(stats, stats.median()),
        stats.percentiles().containsKey(99.0)
            ? figure(stats, stats.percentile(99))
            : SweepTable.NONE,
        figure(stats, stats.min()),
        figure(stats, stats.max()));
  }

  private static TextTable workers(Summary summary) {
    TextTable table =
        new TextTable("worker", "ok", "failed", "out tok/s", "TTFT p50 (ms)", "p99", "TPOT (ms)");
    for (WorkerShare share : summary.own().workers()) {
      table.row(
          share.worker(),
          Integer.toString(share.completed()),
          Integer.toString(share.failed()),
          number(share.outputThroughput()),
          figure(share.ttft(), share.ttft().median()),
          figure(share.ttft(), share.ttft().percentile(99)),
          figure(share.tpot(), share.tpot().mean()));
    }
    return table;
  }

  /** Which share of the values is no greater than each. */
  private static void spread(List<Part> parts, String title, Samples samples) {
    if (samples.count() == 0) {
      return;
    }
    List<Plot.Point> points = new ArrayList<>();
    for (int half = 0; half <= 200; half++) {
      points.add(new Plot.Point(samples.percentile(half / 2.0), half / 2.0));
    }
    TextTable data = new TextTable("percentile", "ms");
    PERCENTS.forEach(percent -> data.row(Shown.word(percent), number(samples.percentile(percent))));
    boolean wide = samples.min() > 0 && samples.max() > 20 * samples.median();
    parts.add(
        new Part.Drawing(
            new Plot(
                title,
                new Plot.Axis("ms", wide),
                new Plot.Axis("% of them are no longer", false),
                List.of(new Plot.Series("percent", Plot.Style.LINE, points)),
                List.of()),
            data));
  }

  private static void timeline(List<Part> parts, Run run, List<RequestRecord> whole) {
    double slice = run.durationNanos() / 1e9 / SLICES;
    if (slice <= 0) {
      return;
    }
    double[] chunks = new double[SLICES];
    double[] open = new double[SLICES];
    for (RequestRecord request : whole) {
      Chunks came = request.chunks();
      double tokensEach = (double) request.outputTokens() / came.count();
      for (int chunk = 0; chunk < came.count(); chunk++) {
        chunks[place(came.nanos(chunk), slice)] += tokensEach / slice;
      }
      for (int at = 0; at < SLICES; at++) {
        double from = Math.max(at * slice, request.sentNanos() / 1e9);
        double to = Math.min((at + 1) * slice, request.endNanos() / 1e9);
        open[at] += Math.max(0, to - from) / slice;
      }
    }
    over(parts, "Output over time", "tok/s", slice, chunks);
    over(parts, "Requests under way", "requests", slice, open);
  }

  private static void over(
      List<Part> parts, String title, String unit, double slice, double[] values) {
    List<Plot.Point> points = new ArrayList<>();
    TextTable data = new TextTable("from (s)", unit);
    for (int at = 0; at < values.length; at++) {
      points.add(new Plot.Point(at * slice, values[at]));
      data.row(number(at * slice), number(values[at]));
    }
    parts.add(
        new Part.Drawing(
            new Plot(
                title,
                new Plot.Axis("s", false),
                new Plot.Axis(unit, false),
                List.of(new Plot.Series(unit, Plot.Style.LINE, points)),
                List.of()),
            data));
  }

  private static int place(long nanos, double slice) {
    return Math.clamp((int) (nanos / 1e9 / slice), 0, SLICES - 1);
  }

  private static Samples ttfts(List<RequestRecord> whole) {
    return Samples.of(
        whole.stream()
            .mapToDouble(r -> (r.chunks().nanos(0) - r.scheduledNanos()) / 1e6)
            .toArray());
  }

  private static Samples gaps(List<RequestRecord> whole) {
    return Samples.of(
        whole.stream()
            .flatMapToDouble(r ->
                IntStream.range(1, r.chunks().count())
                    .mapToDouble(c -> (r.chunks().nanos(c) - r.chunks().nanos(c - 1)) / 1e6))
            .toArray());
  }

  private static String figure(Stats stats, double value) {
    return SweepTable.figure(stats, value, 2);
  }

  private static String number(double value) {
    return SweepTable.number(value, 2);
  }
}
