package dev.flotilla.bench.measure;

import java.util.Collection;
import java.util.Optional;

/**
 * What repeats of the same measurement said.
 *
 * @param runs how many
 * @param median what a table shows
 * @param interval where the mean lies with 95 % confidence, by Student's t; absent for one run. It
 *     takes the runs for independent and their values for roughly normal.
 */
public record Spread(int runs, double min, double median, double max, Optional<Interval> interval) {
  /**
   * Student's t at 97.5 % by degrees of freedom, from 1; the last one, of 30, is used above it.
   * Values as in the NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
   */
  private static final double[] T_95 = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042
  };

  /** From where to where. */
  public record Interval(double low, double high) {}

  /**
   * What the repeats said.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static Spread of(Collection<Double> values) {
    if (values.isEmpty()) {
      throw new IllegalArgumentException("a spread needs at least one value");
    }
    Samples samples = Samples.of(values.stream().mapToDouble(Double::doubleValue).toArray());
    return new Spread(
        samples.count(), samples.min(), samples.median(), samples.max(), interval(samples));
  }

  private static Optional<Interval> interval(Samples samples) {
    int runs = samples.count();
    if (runs < 2) {
      return Optional.empty();
    }
    double t = T_95[Math.min(runs - 2, T_95.length - 1)];
    // The deviation of the sample; that of the values themselves divides by all of them.
    double deviation = samples.std() * Math.sqrt((double) runs / (runs - 1));
    double half = t * deviation / Math.sqrt(runs);
    return Optional.of(new Interval(samples.mean() - half, samples.mean() + half));
  }
}
