package dev.flotilla.bench.load;

import java.time.Duration;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * When requests are due, by the definitions of {@code vllm bench serve}: a pure function of the
 * plan, the number of requests and the randomness.
 *
 * <p>Gaps between requests are drawn from a gamma distribution of shape {@code burstiness} and mean
 * 1/rate; a burstiness of 1 is a Poisson process, infinity an even pace. Each request, the first
 * included, comes a gap after the one before. At a constant rate all times are then stretched so
 * that the last is exactly at {@code requests / rate}: two runs of few requests then have the same
 * rate and not only the same expected one.
 */
public sealed interface Arrivals {

  /**
   * When each request is due.
   *
   * @return nanoseconds since the start, one for each request, never falling
   */
  long[] dueNanos(int requests, RandomGenerator random);

  /** All at once; what limits them is concurrency. */
  record AtOnce() implements Arrivals {
    @Override
    public long[] dueNanos(int requests, RandomGenerator random) {
      return new long[requests];
    }
  }

  /**
   * A constant rate.
   *
   * @param perSecond requests a second, above 0
   * @param burstiness above 0
   */
  record Constant(double perSecond, double burstiness) implements Arrivals {
    public Constant {
      check(perSecond, "a rate");
      checkBurstiness(burstiness);
    }

    @Override
    public long[] dueNanos(int requests, RandomGenerator random) {
      double[] due = new double[requests];
      double sum = 0;
      for (int i = 0; i < requests; i++) {
        sum += Gamma.gap(perSecond, burstiness, random);
        due[i] = sum;
      }
      // The sum may be 0 where the shape is so small that every gap is below what a double can say.
      double stretch = sum > 0 ? requests / perSecond / sum : 1;
      return nanos(due, stretch);
    }
  }

  /**
   * A rate that grows from request to request.
   *
   * @param exponential whether by a factor each time, else by an amount
   * @param startPerSecond rate at the first request, above 0
   * @param endPerSecond rate at the last one, not below the first's
   */
  record RampUp(boolean exponential, double startPerSecond, double endPerSecond, double burstiness)
      implements Arrivals {
    public RampUp {
      check(startPerSecond, "the rate at the start of a ramp");
      check(endPerSecond, "the rate at the end of a ramp");
      checkBurstiness(burstiness);
      if (endPerSecond < startPerSecond) {
        throw new IllegalArgumentException("a ramp's rate does not fall");
      }
    }

    @Override
    public long[] dueNanos(int requests, RandomGenerator random) {
      double[] due = new double[requests];
      double sum = 0;
      for (int i = 0; i < requests; i++) {
        sum += Gamma.gap(perSecond(i, requests), burstiness, random);
        due[i] = sum;
      }
      return nanos(due, 1);
    }

    /** The rate at which the gap before that request is drawn. */
    double perSecond(int request, int requests) {
      double progress = (double) request / Math.max(requests - 1, 1);
      return exponential
          ? startPerSecond * Math.pow(endPerSecond / startPerSecond, progress)
          : startPerSecond + (endPerSecond - startPerSecond) * progress;
    }
  }

  /**
   * Times that were recorded, such as those of a replay.
   *
   * @param times since the start, one for each request, not falling
   */
  record Recorded(List<Duration> times) implements Arrivals {
    public Recorded {
      times = List.copyOf(times);
      Duration before = Duration.ZERO;
      for (int i = 0; i < times.size(); i++) {
        if (times.get(i).compareTo(before) < 0) {
          throw new IllegalArgumentException("recorded times fall at request " + i);
        }
        before = times.get(i);
      }
    }

    @Override
    public long[] dueNanos(int requests, RandomGenerator random) {
      if (requests != times.size()) {
        throw new IllegalArgumentException(times.size() + " times for " + requests + " requests");
      }
      return times.stream().mapToLong(Duration::toNanos).toArray();
    }
  }

  private static long[] nanos(double[] seconds, double stretch) {
    long[] nanos = new long[seconds.length];
    for (int i = 0; i < nanos.length; i++) {
      nanos[i] = Math.round(seconds[i] * stretch * 1e9);
    }
    return nanos;
  }

  private static void check(double perSecond, String what) {
    if (!(perSecond > 0) || Double.isInfinite(perSecond)) {
      throw new IllegalArgumentException(what + " is above 0 and finite");
    }
  }

  private static void checkBurstiness(double burstiness) {
    if (!(burstiness > 0)) {
      throw new IllegalArgumentException("a burstiness is above 0");
    }
  }
}
