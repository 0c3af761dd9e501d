package dev.flotilla.cli.bench;

import dev.flotilla.bench.measure.Comparison;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Sweep;
import dev.flotilla.bench.report.ComparisonPage;
import dev.flotilla.bench.report.ComparisonTable;
import dev.flotilla.bench.report.Page;
import dev.flotilla.bench.report.Saved;
import dev.flotilla.bench.report.TextTable;
import dev.flotilla.cli.output.Failure;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Two saved measurements beside one another, in all forms that they are shown and kept in. */
final class SavedComparison {
  private SavedComparison() {}

  /**
   * For a terminal.
   *
   * @throws Failure where the two have nothing in common
   */
  static TextTable table(Saved before, Saved after) {
    if (before instanceof Saved.Swept(Sweep first) && after instanceof Saved.Swept(Sweep second)) {
      return ComparisonTable.of(shared(first, second));
    }
    if (before instanceof Saved.Runs(List<Result> first)
        && after instanceof Saved.Runs(List<Result> second)) {
      return ComparisonTable.of(Comparison.of(first, second));
    }
    throw different();
  }

  private static List<Comparison.AtLevel> shared(Sweep first, Sweep second) {
    List<Comparison.AtLevel> shared = Comparison.of(first, second);
    if (shared.isEmpty()) {
      throw new Failure("--compare: the two sweeps have no concurrency in common");
    }
    return shared;
  }

  private static Failure different() {
    return new Failure("--compare: one of the two is a sweep and the other is not");
  }

  /**
   * For files and for a hub.
   *
   * @param first the file that {@code before} is from
   * @param second the file that {@code after} is from
   */
  static ReportOptions.Report report(Path first, Saved before, Path second, Saved after) {
    if (before instanceof Saved.Swept(Sweep one) && after instanceof Saved.Swept(Sweep other)) {
      ObjectNode json = json(first, second);
      ArrayNode levels = json.putArray("levels");
      for (Comparison.AtLevel level : shared(one, other)) {
        lines(levels.addObject().put("concurrency", level.concurrency()), level.comparison());
      }
      return report(
          one.load().model(),
          Map.of(),
          json,
          ComparisonPage.of(first.toString(), one, second.toString(), other));
    }
    if (before instanceof Saved.Runs(List<Result> one)
        && after instanceof Saved.Runs(List<Result> other)) {
      Comparison comparison = Comparison.of(one, other);
      Map<String, String> figures = new LinkedHashMap<>();
      comparison.lines().forEach(line -> figures.put(line.figure(), line.verdict().words()));
      return report(
          one.getFirst().run().load().model(),
          figures,
          lines(json(first, second), comparison),
          ComparisonPage.of(first.toString(), one, second.toString(), other));
    }
    throw different();
  }

  private static ReportOptions.Report report(
      String model, Map<String, String> figures, ObjectNode json, Page page) {
    return new ReportOptions.Report("comparison", page.title(), model, figures, json, json, page);
  }

  private static ObjectNode json(Path first, Path second) {
    return JsonMapper.shared()
        .createObjectNode()
        .put("before", first.toString())
        .put("after", second.toString());
  }

  private static ObjectNode lines(ObjectNode json, Comparison comparison) {
    ArrayNode lines = json.putArray("figures");
    for (Comparison.Line line : comparison.lines()) {
      lines
          .addObject()
          .put("figure", line.figure())
          .put("before", line.before())
          .put("after", line.after())
          .put("after_is", line.verdict().words());
    }
    return json;
  }
}
