package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Engine;
import dev.flotilla.bench.measure.Finding;
import dev.flotilla.bench.measure.SiliconFigures;
import dev.flotilla.bench.report.Page.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** The page of several engines under the same load. */
public final class EnginesPage {
  private EnginesPage() {}

  /**
   * The page.
   *
   * @param dataset what was asked
   * @param engines at least one
   * @throws IllegalArgumentException if there is none
   */
  public static Page of(String dataset, List<Engine> engines) {
    if (engines.isEmpty()) {
      throw new IllegalArgumentException("a comparison has at least one engine");
    }
    List<Part> parts = new ArrayList<>();
    parts.add(new Part.Findings(findings(engines)));
    plot(engines).ifPresent(parts::add);
    for (int concurrency : SiliconReport.concurrencies(engines)) {
      parts.add(new Part.Heading("Concurrency " + concurrency));
      parts.add(new Part.Table(SiliconReport.table(engines, concurrency)));
    }
    Engine first = engines.getFirst();
    return new Page(
        "Engines: " + engines.stream().map(Engine::name).collect(Collectors.joining(", ")),
        first.model()
            + ", "
            + dataset
            + ", "
            + first.machine().chip()
            + ", "
            + first.machine().os()
            + ", "
            + first.startedAt(),
        parts);
  }

  private static Optional<Part> plot(List<Engine> engines) {
    List<Plot.Series> series = new ArrayList<>();
    TextTable data = new TextTable("engine", "concurrency", "TTFT avg (ms)", "out tok/s");
    for (Engine engine : engines) {
      List<Plot.Point> points = new ArrayList<>();
      for (Engine.AtConcurrency level : engine.levels()) {
        if (level.crashed()) {
          data.row(engine.name(), Integer.toString(level.concurrency()), "CRASHED", "CRASHED");
          continue;
        }
        SiliconFigures figures = level.result().orElseThrow().summary().own().silicon();
        points.add(
            new Plot.Point(
                figures.outputThroughputTps(), figures.ttftAvgMs(), "c=" + level.concurrency()));
        data.row(
            engine.name(),
            Integer.toString(level.concurrency()),
            SweepTable.number(figures.ttftAvgMs(), 1),
            SweepTable.number(figures.outputThroughputTps(), 1));
      }
      series.add(new Plot.Series(engine.name(), Plot.Style.PATH, points));
    }
    if (series.stream().allMatch(s -> s.points().isEmpty())) {
      return Optional.empty();
    }
    return Optional.of(
        new Part.Drawing(
            new Plot(
                "Time to first token against throughput",
                new Plot.Axis("output tok/s", false),
                new Plot.Axis("TTFT avg (ms)", false),
                series,
                List.of()),
            data));
  }

  private static List<Finding> findings(List<Engine> engines) {
    List<Finding> findings = new ArrayList<>();
    for (Engine engine : engines) {
      for (Engine.AtConcurrency level : engine.levels()) {
        String where = engine.name() + " at concurrency " + level.concurrency();
        if (level.result().isEmpty()) {
          findings.add(
              new Finding(Finding.Kind.NOTHING_SUCCEEDED, true, where + ": " + level.error()));
        }
        level.findings().forEach(finding -> findings.add(finding.at(where)));
      }
    }
    return findings;
  }
}
