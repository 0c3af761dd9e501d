package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Comparison;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.Page.Part;
import java.util.ArrayList;
import java.util.List;

/** The page of two measurements beside one another. */
public final class ComparisonPage {
  private static final String METHOD =
      "Ratios are medians of all pairs of a value after and a value before (Hodges and Lehmann);"
          + " intervals hold with 95 % confidence by the rank test of Mann and Whitney, each line by"
          + " itself.";

  private ComparisonPage() {}

  /**
   * Two runs, or repeats of each.
   *
   * @param before what the first is called
   * @param after what the second is called
   */
  public static Page of(String before, List<Result> first, String after, List<Result> second) {
    List<Part> parts = new ArrayList<>();
    parts.add(new Part.Findings(findings(before, first, after, second)));
    parts.add(new Part.Table(ComparisonTable.of(Comparison.of(first, second))));
    parts.add(new Part.Words(METHOD));
    return new Page(
        "Comparison of " + first.getFirst().run().load().model(),
        before + " (before), " + after + " (after)",
        parts);
  }

  /** Two sweeps, where they have levels in common. */
  public static Page of(String before, Sweep first, String after, Sweep second) {
    List<Comparison.AtLevel> levels = Comparison.of(first, second);
    List<Part> parts = new ArrayList<>();
    List<Plot.Series> series = new ArrayList<>();
    SweepPage.plot(first).ifPresent(plot -> series.add(named(before, plot)));
    SweepPage.plot(second).ifPresent(plot -> series.add(named(after, plot)));
    if (levels.isEmpty()) {
      parts.add(new Part.Words("The two sweeps have no concurrency in common."));
    }
    TextTable table = ComparisonTable.of(levels);
    if (series.isEmpty()) {
      parts.add(new Part.Table(table));
    } else {
      parts.add(
          new Part.Drawing(
              new Plot(
                  "Latency against throughput",
                  new Plot.Axis("output tok/s", false),
                  new Plot.Axis("median E2EL (ms)", false),
                  series,
                  List.of()),
              table));
    }
    parts.add(new Part.Words(METHOD));
    return new Page(
        "Comparison of sweeps of " + first.load().model(),
        before + " (before), " + after + " (after)",
        parts);
  }

  private static Plot.Series named(String name, Plot plot) {
    return new Plot.Series(name, Plot.Style.PATH, plot.series().getFirst().points());
  }

  private static List<Finding> findings(
      String before, List<Result> first, String after, List<Result> second) {
    List<Finding> findings = new ArrayList<>();
    add(findings, before, first);
    add(findings, after, second);
    return findings;
  }

  private static void add(List<Finding> findings, String name, List<Result> results) {
    for (Result result : results) {
      for (Finding finding : result.findings()) {
        findings.add(
            new Finding(finding.kind(), finding.misleads(), name + ": " + finding.words()));
      }
    }
  }
}
