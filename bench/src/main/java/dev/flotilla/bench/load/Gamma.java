package dev.flotilla.bench.load;

import java.util.random.RandomGenerator;

/** Gaps between arrivals. */
final class Gamma {
  private Gamma() {}

  /**
   * A gap in seconds: gamma-distributed with shape {@code burstiness} and mean 1/rate; always the
   * mean where the burstiness is infinite.
   */
  static double gap(double perSecond, double burstiness, RandomGenerator random) {
    if (Double.isInfinite(burstiness)) {
      return 1 / perSecond;
    }
    return sample(burstiness, random) / (perSecond * burstiness);
  }

  /**
   * One draw with scale 1, by Marsaglia and Tsang, "A simple method for generating gamma variables"
   * (2000): shapes below 1 are drawn one higher and brought back by a power of a uniform number.
   */
  static double sample(double shape, RandomGenerator random) {
    if (shape < 1) {
      // 1 - U instead of U: never 0.
      return sample(shape + 1, random) * Math.pow(1 - random.nextDouble(), 1 / shape);
    }
    double d = shape - 1.0 / 3;
    double c = 1 / Math.sqrt(9 * d);
    while (true) {
      double x = random.nextGaussian();
      double v = 1 + c * x;
      if (v <= 0) {
        continue;
      }
      v = v * v * v;
      double u = 1 - random.nextDouble();
      if (Math.log(u) < 0.5 * x * x + d - d * v + d * Math.log(v)) {
        return d * v;
      }
    }
  }
}
