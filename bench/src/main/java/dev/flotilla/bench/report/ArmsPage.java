package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.ArmRuns;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.Run;
import dev.flotilla.bench.report.Page.Part;
import java.util.ArrayList;
import java.util.List;

/** The page of an experiment with arms. */
public final class ArmsPage {
  private ArmsPage() {}

  /**
   * The page.
   *
   * @param arms at least one; all others are compared with the first
   * @throws IllegalArgumentException if there is none
   */
  public static Page of(List<ArmRuns> arms) {
    if (arms.isEmpty()) {
      throw new IllegalArgumentException("an experiment has at least one arm");
    }
    Run first = arms.getFirst().runs().getFirst().run();
    List<Part> parts = new ArrayList<>();
    parts.add(new Part.Findings(findings(arms)));
    List<Plot.Series> series = new ArrayList<>();
    for (ArmRuns arm : arms) {
      series.add(
          new Plot.Series(
              arm.name() + ": " + arm.words(),
              Plot.Style.PATH,
              arm.runs().stream()
                  .map(r ->
                      new Plot.Point(
                          r.summary().outputThroughput(), r.summary().e2el().median(), arm.name()))
                  .toList()));
    }
    parts.add(
        new Part.Drawing(
            new Plot(
                "Latency against throughput, one point for each run",
                new Plot.Axis("output tok/s", false),
                new Plot.Axis("median E2EL (ms)", false),
                series,
                List.of()),
            ArmsTable.of(arms)));
    if (arms.stream().anyMatch(arm -> !arm.served().isEmpty())) {
      parts.add(new Part.Heading("Which target served what, as counted upstream"));
      parts.add(new Part.Table(ArmsTable.served(arms)));
    }
    return new Page(
        "Arms: " + first.load().model(), first.load().dataset() + ", " + first.startedAt(), parts);
  }

  private static List<Finding> findings(List<ArmRuns> arms) {
    List<Finding> findings = new ArrayList<>();
    for (ArmRuns arm : arms) {
      findings.addAll(RunFindings.once("Arm " + arm.name(), arm.findings()));
    }
    return findings;
  }
}
