package dev.flotilla.bench.report;

import java.util.List;

/** A row of bars that fits a line of text. */
public final class Sparkline {
  private static final String BARS = "▁▂▃▄▅▆▇█";

  private Sparkline() {}

  /** One bar for each value, from 0 to the greatest; none for no values. */
  public static String of(List<Double> values) {
    double most = values.stream().mapToDouble(Double::doubleValue).max().orElse(0);
    StringBuilder line = new StringBuilder();
    for (double value : values) {
      int bar = most > 0 ? (int) Math.round(value / most * (BARS.length() - 1)) : 0;
      line.append(BARS.charAt(Math.clamp(bar, 0, BARS.length() - 1)));
    }
    return line.toString();
  }
}
