package dev.flotilla.bench.measure;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What is said of many values: all 0 where there were none.
 *
 * @param count how many values there were
 * @param std the standard deviation of these values themselves (numpy's {@code ddof=0})
 * @param percentiles value by percent, such as 99.0; numpy's linear ones
 */
public record Stats(
    int count,
    double mean,
    double median,
    double std,
    double min,
    double max,
    SortedMap<Double, Double> percentiles) {

  public Stats {
    percentiles = Collections.unmodifiableSortedMap(new TreeMap<>(percentiles));
  }

  /** Whether there was anything to measure; else every figure is 0 and says nothing. */
  public boolean measured() {
    // A file of the field tells no count.
    return count > 0 || mean > 0;
  }

  /**
   * A percentile that was asked for when these were made.
   *
   * @throws IllegalArgumentException if it was not
   */
  public double percentile(double percent) {
    if (percent == 50) {
      return median;
    }
    Double value = percentiles.get(percent);
    if (value == null) {
      throw new IllegalArgumentException(
          "percentile " + percent + " was not taken, only " + percentiles.keySet());
    }
    return value;
  }
}
