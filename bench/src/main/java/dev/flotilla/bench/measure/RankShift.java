package dev.flotilla.bench.measure;

import java.util.Arrays;
import java.util.Optional;

/**
 * How much greater the values of one sample are than those of another: the median of all ratios of
 * a value of the second to one of the first, and the interval that goes with the test of Mann and
 * Whitney ("On a test of whether one of two random variables is stochastically larger than the
 * other", Annals of Mathematical Statistics 18, 1947; the estimate is that of Hodges and Lehmann,
 * ibid. 34, 1963; the interval as in Hollander, Wolfe, Chicken, "Nonparametric Statistical
 * Methods", 3rd ed., 4.3).
 *
 * <p>Why this and no bootstrap: repeats are few, three to ten, and the bootstrap's intervals are
 * then too narrow, while these hold at any size; and latencies have long tails, which ranks do not
 * mind. The price is that fewer than four runs on each side can show nothing with 95 %.
 *
 * @param ratio the second to the first; 1.12 is 12 % more
 * @param low from where the ratio lies with 95 % confidence
 * @param high to where
 */
public record RankShift(double ratio, double low, double high) {
  /** Values of a sample that are looked at; of more, as many in even steps. */
  static final int VALUES_MAX = 2_000;

  /** Up to here the distribution is counted out; above it, the normal one is as good. */
  private static final int EXACT_MAX = 30;

  private static final double TAIL = 0.025;
  private static final double Z_95 = 1.959963985;

  /**
   * The shift between two samples of values above 0.
   *
   * @return empty where the samples are too small for 95 %, or hold values that are not above 0
   */
  public static Optional<RankShift> between(double[] first, double[] second) {
    double[] before = logs(first);
    double[] after = logs(second);
    if (before.length == 0 || after.length == 0) {
      return Optional.empty();
    }
    int order = order(before.length, after.length);
    if (order < 1) {
      return Optional.empty();
    }
    double[] differences = new double[before.length * after.length];
    for (int i = 0; i < before.length; i++) {
      for (int j = 0; j < after.length; j++) {
        differences[i * after.length + j] = after[j] - before[i];
      }
    }
    Arrays.sort(differences);
    return Optional.of(
        new RankShift(
            Math.exp(middle(differences)),
            Math.exp(differences[order - 1]),
            Math.exp(differences[differences.length - order])));
  }

  /** Whether the samples differ, with 95 % confidence. */
  public boolean differs() {
    return low > 1 || high < 1;
  }

  private static double[] logs(double[] values) {
    if (Arrays.stream(values).anyMatch(value -> !(value > 0))) {
      return new double[0];
    }
    int taken = Math.min(values.length, VALUES_MAX);
    double[] logs = new double[taken];
    for (int i = 0; i < taken; i++) {
      logs[i] = Math.log(values[(int) ((long) i * values.length / taken)]);
    }
    return logs;
  }

  private static double middle(double[] sorted) {
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /** Which of the sorted differences, from 1, is the interval's low end; 0 where there is none. */
  static int order(int n, int m) {
    if (n > EXACT_MAX || m > EXACT_MAX) {
      double products = (double) n * m;
      return (int) (products / 2 - Z_95 * Math.sqrt(products * (n + m + 1) / 12));
    }
    double[] ways = ways(n, m);
    double all = Arrays.stream(ways).sum();
    double tail = 0;
    int order = 0;
    while (order < ways.length && (tail + ways[order]) / all <= TAIL) {
      tail += ways[order];
      order++;
    }
    return order;
  }

  /**
   * In how many ways each value of Mann and Whitney's U comes about, where the samples are alike.
   */
  private static double[] ways(int n, int m) {
    double[][] smaller = new double[m + 1][n * m + 1];
    for (int j = 0; j <= m; j++) {
      smaller[j][0] = 1;
    }
    for (int i = 1; i <= n; i++) {
      double[][] now = new double[m + 1][n * m + 1];
      now[0][0] = 1;
      for (int j = 1; j <= m; j++) {
        for (int u = 0; u <= i * j; u++) {
          // The greatest value is of the first sample and beats all j of the second, or is of the
          // second.
          now[j][u] = (u >= j ? smaller[j][u - j] : 0) + now[j - 1][u];
        }
      }
      smaller = now;
    }
    return smaller[m];
  }
}
