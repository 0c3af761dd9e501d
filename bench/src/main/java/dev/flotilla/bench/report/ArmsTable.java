package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.ArmRuns;
import dev.flotilla.bench.measure.Spread;
import dev.flotilla.bench.measure.Summary;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The arms of an experiment below one another, each with its ratio to the first. */
public final class ArmsTable {
  private ArmsTable() {}

  /** Wall clock, throughput, median and p99 latencies: medians of each arm's repeats. */
  public static TextTable of(List<ArmRuns> arms) {
    String first = arms.isEmpty() ? "" : arms.getFirst().name();
    TextTable table =
        new TextTable(
            "arm",
            "wall (s)",
            "vs " + first,
            "out tok/s",
            "least–most",
            "vs " + first,
            "TTFT p50 (ms)",
            "p99",
            "E2EL p50 (ms)",
            "p99",
            "errors");
    for (ArmRuns arm : arms) {
      Spread wall = spread(arm, Summary::durationSeconds);
      Spread output = spread(arm, Summary::outputThroughput);
      table.row(
          arm.name() + ": " + arm.words(),
          SweepTable.number(wall.median(), 2),
          ratio(wall, spread(arms.getFirst(), Summary::durationSeconds)),
          SweepTable.number(output.median(), 1),
          SweepTable.number(output.min(), 1) + "–" + SweepTable.number(output.max(), 1),
          ratio(output, spread(arms.getFirst(), Summary::outputThroughput)),
          median(arm, s -> s.ttft().median()),
          median(arm, s -> s.ttft().percentile(99)),
          median(arm, s -> s.e2el().median()),
          median(arm, s -> s.e2el().percentile(99)),
          Integer.toString(arm.runs().stream().mapToInt(r -> r.summary().failed()).sum()));
    }
    return table;
  }

  /** Which target served how many requests, arm by arm. */
  public static TextTable served(List<ArmRuns> arms) {
    TextTable table = new TextTable("arm", "target", "requests");
    for (ArmRuns arm : arms) {
      arm.served().entrySet().stream()
          .sorted(Map.Entry.comparingByKey())
          .forEach(entry -> table.row(arm.name(), entry.getKey(), entry.getValue().toString()));
    }
    return table;
  }

  private static Spread spread(ArmRuns arm, ToDoubleFunction<Summary> figure) {
    return Spread.of(arm.runs().stream().map(r -> figure.applyAsDouble(r.summary())).toList());
  }

  private static String median(ArmRuns arm, ToDoubleFunction<Summary> figure) {
    return SweepTable.number(spread(arm, figure).median(), 1);
  }

  private static String ratio(Spread spread, Spread first) {
    return first.median() > 0 ? SweepTable.number(spread.median() / first.median(), 2) + "×" : "–";
  }
}
