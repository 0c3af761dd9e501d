package dev.flotilla.bench.sweep;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/**
 * The runs of a sweep in their order.
 *
 * <p>The first run of all does not count: it finds a cold disk, an unpaged model and clocks at
 * rest. Then the levels come once for each repeat, up and down in turn, so that a machine that
 * slowly gets warmer, or busier, shifts all levels alike instead of the high ones alone.
 *
 * @param steps at least one that counts
 */
public record SweepPlan(List<Step> steps) {
  /** Requests of a level of which nobody says how many, at least. */
  public static final int REQUESTS_MIN = 16;

  /** And for each request under way at once: so many fill a level and empty it again. */
  public static final int REQUESTS_FOR_EACH = 2;

  public static final int REPEATS_MAX = 100;

  public SweepPlan {
    steps = List.copyOf(steps);
  }

  /**
   * One run.
   *
   * @param place in the order of all runs, from 0
   * @param concurrency requests under way at once
   * @param requests how many are made
   * @param repeat which repeat it belongs to, from 1; 0 for the run that does not count
   */
  public record Step(int place, int concurrency, int requests, int repeat) {
    public boolean counts() {
      return repeat > 0;
    }
  }

  /**
   * The plan.
   *
   * @param requests of each level; where nobody says, {@link #requests(int)}
   */
  public static SweepPlan of(Levels levels, int repeats, OptionalInt requests) {
    List<Step> steps = new ArrayList<>();
    List<Integer> up = levels.concurrencies();
    steps.add(step(0, up.getFirst(), 0, requests));
    for (int repeat = 1; repeat <= repeats; repeat++) {
      List<Integer> order = repeat % 2 == 1 ? up : up.reversed();
      for (int concurrency : order) {
        steps.add(step(steps.size(), concurrency, repeat, requests));
      }
    }
    return new SweepPlan(steps);
  }

  private static Step step(int place, int concurrency, int repeat, OptionalInt requests) {
    return new Step(place, concurrency, requests.orElseGet(() -> requests(concurrency)), repeat);
  }

  /** Requests of a level of which nobody says how many. */
  public static int requests(int concurrency) {
    return Math.max(REQUESTS_MIN, REQUESTS_FOR_EACH * concurrency);
  }

  /** The most requests that one run makes: so many prompts are needed. */
  public int requestsMax() {
    return steps.stream().mapToInt(Step::requests).max().orElseThrow();
  }
}
