package dev.flotilla.bench.measure;

import java.util.Arrays;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;

/**
 * Values of one kind, sorted, and what is said of them. Without any value every figure is 0, as the
 * field's tools print it.
 */
public final class Samples {
  private final double[] sorted;

  private Samples(double[] sorted) {
    this.sorted = sorted;
  }

  /** The values, in any order. */
  public static Samples of(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return new Samples(sorted);
  }

  public int count() {
    return sorted.length;
  }

  /** The values from the smallest to the largest. */
  public double[] sorted() {
    return sorted.clone();
  }

  /** The arithmetic mean. */
  public double mean() {
    return sorted.length == 0 ? 0 : Arrays.stream(sorted).sum() / sorted.length;
  }

  /** The standard deviation of these values themselves (numpy's {@code ddof=0}). */
  public double std() {
    if (sorted.length == 0) {
      return 0;
    }
    double mean = mean();
    double squares = 0;
    for (double value : sorted) {
      squares += (value - mean) * (value - mean);
    }
    return Math.sqrt(squares / sorted.length);
  }

  public double min() {
    return sorted.length == 0 ? 0 : sorted[0];
  }

  public double max() {
    return sorted.length == 0 ? 0 : sorted[sorted.length - 1];
  }

  public double median() {
    return percentile(50);
  }

  /**
   * The percentile between the two nearest values, as numpy's default ({@code linear}) and so
   * {@code vllm bench serve} has it.
   *
   * @param percent 0 to 100
   */
  public double percentile(double percent) {
    checkPercent(percent);
    if (sorted.length == 0) {
      return 0;
    }
    double place = percent / 100 * (sorted.length - 1);
    int below = (int) Math.floor(place);
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
  }

  /**
   * The value at place {@code n × percent / 100}, rounded down: SiliconBench's percentile.
   *
   * @param percent 0 to 100
   */
  public double nearestRank(double percent) {
    checkPercent(percent);
    if (sorted.length == 0) {
      return 0;
    }
    int place = (int) (sorted.length * percent / 100);
    return sorted[Math.min(place, sorted.length - 1)];
  }

  /** All figures at once. */
  public Stats stats(SortedSet<Double> percents) {
    SortedMap<Double, Double> percentiles = new TreeMap<>();
    for (double percent : percents) {
      percentiles.put(percent, percentile(percent));
    }
    return new Stats(count(), mean(), median(), std(), min(), max(), percentiles);
  }

  private static void checkPercent(double percent) {
    if (!(percent >= 0 && percent <= 100)) {
      throw new IllegalArgumentException("a percentile is between 0 and 100, not " + percent);
    }
  }

  /** Takes values one by one. */
  static final class Builder {
    private static final int FIRST_ROOM = 64;

    private double[] values = new double[FIRST_ROOM];
    private int count;

    void add(double value) {
      if (count == values.length) {
        values = Arrays.copyOf(values, 2 * count);
      }
      values[count++] = value;
    }

    Samples build() {
      return Samples.of(Arrays.copyOf(values, count));
    }
  }
}
