package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Knee;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.Page.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** The page of a sweep: what throughput costs in latency, and where it stops to pay. */
public final class SweepPage {
  private SweepPage() {}

  /** The page. */
  public static Page of(Sweep sweep) {
    List<Part> parts = new ArrayList<>();
    parts.add(new Part.Findings(findings(sweep)));
    sweep.kneeWords().ifPresent(words -> parts.add(new Part.Words("Knee: " + words + ".")));
    TextTable table = SweepTable.of(sweep);
    plot(sweep).ifPresent(plot -> parts.add(new Part.Drawing(plot, table)));
    if (!sweep.levels().isEmpty()) {
      parts.add(throughput(sweep));
      parts.add(firstTokens(sweep));
    }
    return new Page(
        "Sweep of " + sweep.load().model(),
        RunPage.where(sweep.load()) + ", " + sweep.startedAt(),
        parts);
  }

  /** Throughput against latency, level by level, the knee marked; absent without a level. */
  public static Optional<Plot> plot(Sweep sweep) {
    if (sweep.levels().isEmpty()) {
      return Optional.empty();
    }
    List<Plot.Point> points =
        sweep.levels().stream()
            .map(level ->
                new Plot.Point(throughput(level), latency(level), "c=" + level.concurrency()))
            .toList();
    List<Plot.Mark> marks = new ArrayList<>();
    Optional<Knee> knee = sweep.knee().filter(k -> k.next() != 0);
    for (Level level : sweep.levels()) {
      if (knee.filter(k -> k.concurrency() == level.concurrency()).isPresent()) {
        marks.add(new Plot.Mark(throughput(level), latency(level), "knee"));
      }
    }
    return Optional.of(
        new Plot(
            "Latency against throughput",
            new Plot.Axis("output tok/s", false),
            new Plot.Axis("median E2EL (ms)", false),
            List.of(new Plot.Series("median E2EL (ms)", Plot.Style.PATH, points)),
            marks));
  }

  /** What was found in the sweep and in any of its runs: each kind of thing once a level. */
  static List<Finding> findings(Sweep sweep) {
    List<Finding> findings = new ArrayList<>(sweep.findings());
    for (Level level : sweep.levels()) {
      findings.addAll(RunFindings.once("At concurrency " + level.concurrency(), level.findings()));
    }
    return findings;
  }

  private static Part throughput(Sweep sweep) {
    TextTable data = new TextTable("concurrency", "least", "median", "most", "95 % of the mean");
    for (Level level : sweep.levels()) {
      var spread = level.spread(Summary::outputThroughput);
      data.row(
          Integer.toString(level.concurrency()),
          SweepTable.number(spread.min(), 1),
          SweepTable.number(spread.median(), 1),
          SweepTable.number(spread.max(), 1),
          spread
              .interval()
              .map(i -> SweepTable.number(i.low(), 1) + " to " + SweepTable.number(i.high(), 1))
              .orElse("one run"));
    }
    return new Part.Drawing(
        new Plot(
            "Output throughput by concurrency",
            new Plot.Axis("concurrency", true),
            new Plot.Axis("tok/s", false),
            List.of(
                series(sweep, "median", l -> l.spread(Summary::outputThroughput).median()),
                series(sweep, "least", l -> l.spread(Summary::outputThroughput).min()),
                series(sweep, "most", l -> l.spread(Summary::outputThroughput).max())),
            List.of()),
        data);
  }

  private static Part firstTokens(Sweep sweep) {
    TextTable data = new TextTable("concurrency", "TTFT p50 (ms)", "p99");
    for (Level level : sweep.levels()) {
      data.row(
          Integer.toString(level.concurrency()),
          SweepTable.number(level.spread(s -> s.ttft().median()).median(), 1),
          SweepTable.number(level.spread(s -> s.ttft().percentile(99)).median(), 1));
    }
    return new Part.Drawing(
        new Plot(
            "Time to first token by concurrency",
            new Plot.Axis("concurrency", true),
            new Plot.Axis("ms", false),
            List.of(
                series(sweep, "p50", l -> l.spread(s -> s.ttft().median()).median()),
                series(sweep, "p99", l -> l.spread(s -> s.ttft().percentile(99)).median())),
            List.of()),
        data);
  }

  private static Plot.Series series(Sweep sweep, String name, ToDoubleFunction<Level> figure) {
    return new Plot.Series(
        name,
        Plot.Style.LINE,
        sweep.levels().stream()
            .map(level -> new Plot.Point(level.concurrency(), figure.applyAsDouble(level)))
            .toList());
  }

  private static double throughput(Level level) {
    return level.spread(Summary::outputThroughput).median();
  }

  private static double latency(Level level) {
    return level.spread(summary -> summary.e2el().median()).median();
  }
}
