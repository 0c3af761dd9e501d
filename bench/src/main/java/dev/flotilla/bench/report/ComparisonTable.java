package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Comparison;
import java.util.List;

/** Two measurements beside one another. */
public final class ComparisonTable {
  private ComparisonTable() {}

  /** One line for each figure: before, after, and what may be said. */
  public static TextTable of(Comparison comparison) {
    TextTable table = new TextTable("figure", "before", "after", "after is");
    for (Comparison.Line line : comparison.lines()) {
      table.row(line.figure(), number(line.before()), number(line.after()), line.verdict().words());
    }
    return table;
  }

  /** The same for each level that two sweeps share. */
  public static TextTable of(List<Comparison.AtLevel> levels) {
    TextTable table = new TextTable("concurrency", "figure", "before", "after", "after is");
    for (Comparison.AtLevel level : levels) {
      for (Comparison.Line line : level.comparison().lines()) {
        table.row(
            Integer.toString(level.concurrency()),
            line.figure(),
            number(line.before()),
            number(line.after()),
            line.verdict().words());
      }
    }
    return table;
  }

  private static String number(double value) {
    return SweepTable.number(value, value >= 100 ? 1 : 2);
  }
}
