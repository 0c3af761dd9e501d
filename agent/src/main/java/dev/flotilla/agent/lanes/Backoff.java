package dev.flotilla.agent.lanes;

import java.time.Duration;
import java.util.random.RandomGenerator;

/** Growing pauses with jitter, so that many agents do not come back in step. For one thread. */
final class Backoff {
  private final Duration first;
  private final Duration longest;
  private final RandomGenerator random;
  private int failures;

  Backoff(Duration first, Duration longest, RandomGenerator random) {
    this.first = first;
    this.longest = longest;
    this.random = random;
  }

  /** The next pause: between half of and the whole of what the failures so far make due. */
  Duration next() {
    long due = Math.min(first.toNanos() << Math.min(failures, 20), longest.toNanos());
    failures++;
    return Duration.ofNanos(due / 2 + random.nextLong(due / 2 + 1));
  }

  void reset() {
    failures = 0;
  }
}
