package dev.flotilla.bench.load;

import java.time.Duration;
import java.util.Optional;

/**
 * When the requests of a run go out, and how many may be under way.
 *
 * @param arrivals when they are due
 * @param maxConcurrency requests under way at once at most; 0 for no limit
 * @param warmups requests before the clock starts, all with the first prompt
 * @param timeLimit after which the run is ended as if the user had
 */
public record LoadPlan(
    Arrivals arrivals, int maxConcurrency, int warmups, Optional<Duration> timeLimit) {

  public LoadPlan {
    if (maxConcurrency < 0 || warmups < 0) {
      throw new IllegalArgumentException("a plan has no fewer than no requests");
    }
  }

  /** A closed loop: as soon as one answer has ended, the next request goes out. */
  public static LoadPlan closed(int concurrency) {
    return new LoadPlan(new Arrivals.AtOnce(), concurrency, 0, Optional.empty());
  }

  /** Whether answers alone decide when the next request goes out. */
  public boolean isClosed() {
    return arrivals instanceof Arrivals.AtOnce;
  }

  /** How many of so many requests may be under way at once. */
  int together(int requests) {
    return maxConcurrency == 0 ? requests : Math.min(maxConcurrency, requests);
  }

  /** This plan with that many warm-ups. */
  public LoadPlan warmedBy(int requests) {
    return new LoadPlan(arrivals, maxConcurrency, requests, timeLimit);
  }
}
