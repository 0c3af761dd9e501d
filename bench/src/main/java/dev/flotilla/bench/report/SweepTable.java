package dev.flotilla.bench.report;

import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.Spread;
import dev.flotilla.bench.measure.Stats;
import dev.flotilla.bench.measure.Summary;
import dev.flotilla.bench.measure.Sweep;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The levels of a sweep below one another. */
public final class SweepTable {
  /** In place of a figure that there is none of. */
  static final String NONE = "-";

  private SweepTable() {}

  /**
   * {@code concurrency | out tok/s | vs c=1 | req/s | TTFT p50 | p99 | TPOT | errors}, medians of
   * the repeats; where there are several, output throughput has its least and greatest beside it.
   * The comparison is with the lowest level, whatever it is.
   */
  public static TextTable of(Sweep sweep) {
    int lowest = sweep.levels().isEmpty() ? 1 : sweep.levels().getFirst().concurrency();
    TextTable table =
        new TextTable(
            "concurrency",
            "out tok/s",
            "vs c=" + lowest,
            "req/s",
            "TTFT p50 (ms)",
            "p99",
            "TPOT (ms)",
            "errors");
    for (Level level : sweep.levels()) {
      Spread output = level.spread(Summary::outputThroughput);
      double base = sweep.levels().getFirst().spread(Summary::outputThroughput).median();
      table.row(
          Integer.toString(level.concurrency()),
          throughput(output),
          base > 0 ? number(output.median() / base, 2) + "×" : NONE,
          median(level, Summary::requestThroughput, 2),
          median(level, s -> s.ttft().median(), 1),
          median(level, s -> s.ttft().percentile(99), 1),
          level.runs().stream().anyMatch(run -> run.summary().tpot().measured())
              ? median(level, s -> s.tpot().mean(), 2)
              : NONE,
          Integer.toString(level.failed()));
    }
    return table;
  }

  private static String throughput(Spread spread) {
    return spread.runs() == 1
        ? number(spread.median(), 1)
        : number(spread.median(), 1)
            + " ("
            + number(spread.min(), 1)
            + "–"
            + number(spread.max(), 1)
            + ")";
  }

  private static String median(Level level, ToDoubleFunction<Summary> figure, int decimals) {
    return number(level.spread(figure).median(), decimals);
  }

  /** A figure of some values; {@link #NONE} where there are no values. */
  static String figure(Stats stats, double value, int decimals) {
    return stats.measured() ? number(value, decimals) : NONE;
  }

  static String number(double value, int decimals) {
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }
}
