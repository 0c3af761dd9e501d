package dev.flotilla.bench.report;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which latencies a report shows, and which percentiles of them.
 *
 * @param metrics in the order of the field's block
 * @param percentiles in the order of the user, 0 to 100
 */
public record Shown(Set<Metric> metrics, List<Double> percentiles) {
  /** The field's default: TTFT, TPOT and ITL with their p99; and E2EL, which it has on demand. */
  public static final Shown DEFAULT = new Shown(EnumSet.allOf(Metric.class), List.of(99.0));

  /** Latencies of the field. */
  public enum Metric {
    TTFT("Time to First Token"),
    TPOT("Time per Output Token (excl. 1st token)"),
    ITL("Inter-token Latency"),
    E2EL("End-to-end Latency");

    private final String title;

    Metric(String title) {
      this.title = title;
    }

    /** What it is called at length. */
    public String title() {
      return title;
    }

    /** As options and keys spell it, such as {@code ttft}. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Shown {
    metrics = Set.copyOf(metrics);
    percentiles = List.copyOf(percentiles);
  }

  /** The percentiles, sorted, as figures are made with. */
  public SortedSet<Double> percents() {
    return new TreeSet<>(percentiles);
  }

  /**
   * Reads what {@code vllm bench serve} takes as {@code --percentile-metrics} and {@code
   * --metric-percentiles}.
   *
   * @param metrics such as {@code ttft,tpot}
   * @param percentiles such as {@code 25,50,99.9}
   * @throws IllegalArgumentException with one sentence that names what is wrong
   */
  public static Shown parse(String metrics, String percentiles) {
    Set<Metric> chosen = EnumSet.noneOf(Metric.class);
    for (String name : metrics.split(",", -1)) {
      chosen.add(metric(name.strip()));
    }
    List<Double> percents = new ArrayList<>();
    for (String text : percentiles.split(",", -1)) {
      double percent = percent(text.strip());
      if (!percents.contains(percent)) {
        percents.add(percent);
      }
    }
    return new Shown(chosen, percents);
  }

  private static Metric metric(String name) {
    for (Metric metric : Metric.values()) {
      if (metric.key().equals(name.toLowerCase(Locale.ROOT))) {
        return metric;
      }
    }
    throw new IllegalArgumentException(
        "metric '" + name + "': there are ttft, tpot, itl and e2el, such as ttft,tpot");
  }

  private static double percent(String text) {
    try {
      double percent = Double.parseDouble(text);
      if (percent >= 0 && percent <= 100) {
        return percent;
      }
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "percentile '" + text + "': write numbers from 0 to 100, such as 50,99", e);
    }
    throw new IllegalArgumentException(
        "percentile '" + text + "': write numbers from 0 to 100, such as 50,99");
  }

  /** A percentile as the field names it: {@code P99}, {@code P99.9}. */
  static String word(double percent) {
    return percent == Math.rint(percent) ? Long.toString((long) percent) : Double.toString(percent);
  }
}
