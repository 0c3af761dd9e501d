package dev.flotilla.bench.report;

import com.google.errorprone.annotations.FormatMethod;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Load;
import dev.flotilla.bench.measure.OwnFigures;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Stats;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.WorkerShare;
import dev.flotilla.bench.report.Shown.Metric;
import java.util.Locale;

/**
 * The block that {@code vllm bench serve} prints: the same names in the same layout, 50 columns
 * wide. What the field does not have follows below its last line, so that a program which reads the
 * block finds nothing else in it.
 */
public final class ServingBlock {
  private static final int WIDTH = 50;
  private static final int LABEL = 40;
  private static final int VALUE = 10;

  private final StringBuilder text = new StringBuilder();

  private ServingBlock() {}

  /** The block of a run, what is beside it, and what a reader must know; ends with a new line. */
  public static String of(Result result, Shown shown) {
    ServingBlock block = new ServingBlock();
    block.field(result, shown);
    block.own(result.summary());
    block.workers(result.summary());
    for (Finding finding : result.findings()) {
      block.line(
          (finding.misleads() ? "WARNING: " : "note: ") + TextTable.printable(finding.words()));
    }
    return block.text.toString();
  }

  private void field(Result result, Shown shown) {
    Summary summary = result.summary();
    Load load = result.run().load();
    heading(" Serving Benchmark Result ", '=');
    row("Successful requests:", summary.completed());
    row("Failed requests:", summary.failed());
    if (load.maxConcurrency() > 0) {
      row("Maximum request concurrency:", load.maxConcurrency());
    }
    if (Double.isFinite(load.requestRate())) {
      row("Request rate configured (RPS):", load.requestRate());
    }
    row("Benchmark duration (s):", summary.durationSeconds());
    row("Total input tokens:", summary.totalInputTokens());
    row("Total generated tokens:", summary.totalOutputTokens());
    row("Request throughput (req/s):", summary.requestThroughput());
    summary.requestGoodput().ifPresent(goodput -> row("Request goodput (req/s):", goodput));
    row("Output token throughput (tok/s):", summary.outputThroughput());
    row("Peak output token throughput (tok/s):", summary.peakOutputThroughput());
    row("Peak concurrent requests:", (double) summary.peakConcurrentRequests());
    row("Total token throughput (tok/s):", summary.totalTokenThroughput());
    for (Metric metric : Metric.values()) {
      if (shown.metrics().contains(metric)) {
        heading(metric.title(), '-');
        stats(metric.name(), stats(summary, metric), shown);
      }
    }
    line("=".repeat(WIDTH));
  }

  private void stats(String name, Stats stats, Shown shown) {
    row("Mean " + name + " (ms):", stats.mean());
    row("Median " + name + " (ms):", stats.median());
    for (double percent : shown.percentiles()) {
      row("P" + Shown.word(percent) + " " + name + " (ms):", stats.percentile(percent));
    }
  }

  private void own(Summary summary) {
    summary.own().byToken().ifPresent(byToken -> byToken(summary, byToken));
    summary
        .own()
        .fromSend()
        .ifPresent(from -> {
          line("Latencies above count from when requests were due. From their sending:");
          row("  Mean TTFT (ms):", from.ttft().mean());
          row("  P99 TTFT (ms):", from.ttft().percentile(99));
          row("  Mean E2EL (ms):", from.e2el().mean());
          row("  P99 E2EL (ms):", from.e2el().percentile(99));
          row("  Mean wait before sending (ms):", from.lateness().mean());
        });
  }

  /** By tokens, where that says something else than by chunks. */
  private void byToken(Summary summary, OwnFigures.ByToken byToken) {
    if (summary.own().bundledRequests() == 0) {
      return;
    }
    line(format("By tokens (%.2f a chunk):", summary.own().tokensPerChunk()));
    row("  Mean ITL (ms):", byToken.itl().mean());
    row("  Median ITL (ms):", byToken.itl().median());
    row("  P99 ITL (ms):", byToken.itl().percentile(99));
    row("  Peak output throughput (tok/s):", byToken.peakOutputThroughput());
  }

  private void workers(Summary summary) {
    if (summary.own().workers().isEmpty()) {
      return;
    }
    TextTable table =
        new TextTable("worker", "ok", "failed", "out tok/s", "TTFT p50", "p99", "TPOT (ms)");
    for (WorkerShare share : summary.own().workers()) {
      table.row(
          share.worker(),
          Integer.toString(share.completed()),
          Integer.toString(share.failed()),
          format("%.1f", share.outputThroughput()),
          SweepTable.figure(share.ttft(), share.ttft().median(), 1),
          SweepTable.figure(share.ttft(), share.ttft().percentile(99), 1),
          SweepTable.figure(share.tpot(), share.tpot().mean(), 2));
    }
    text.append(table.plain());
  }

  static Stats stats(Summary summary, Metric metric) {
    return switch (metric) {
      case TTFT -> summary.ttft();
      case TPOT -> summary.tpot();
      case ITL -> summary.itl();
      case E2EL -> summary.e2el();
    };
  }

  /** A title in the middle of a line of signs; what can't be shared evenly goes to the right. */
  private void heading(String title, char sign) {
    int left = (WIDTH - title.length()) / 2;
    int right = WIDTH - title.length() - left;
    line(String.valueOf(sign).repeat(left) + title + String.valueOf(sign).repeat(right));
  }

  private void row(String label, double value) {
    row(label, format("%.2f", value));
  }

  private void row(String label, long value) {
    row(label, Long.toString(value));
  }

  private void row(String label, String value) {
    line(format("%-" + LABEL + "s %-" + VALUE + "s", label, value));
  }

  private void line(String line) {
    text.append(line).append('\n');
  }

  @FormatMethod
  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
