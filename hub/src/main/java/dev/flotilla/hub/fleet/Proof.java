package dev.flotilla.hub.fleet;

import java.time.Duration;

/** Where the proof of a worker's launch stands. */
sealed interface Proof {
  /** Of a launch that nobody looked at yet. */
  Wanted FIRST = new Wanted(false, false, false);

  /**
   * It waits for its turn.
   *
   * @param fresh whether an earlier proof must not stand for this one
   * @param asReference whether its answers become the model's reference
   * @param slow whether it was found too slow, so that its speed is looked at first
   */
  record Wanted(boolean fresh, boolean asReference, boolean slow) implements Proof {}

  /**
   * It goes on.
   *
   * @param order what was wanted
   * @param step what is being looked at, for people
   */
  record Running(Wanted order, String step) implements Proof {}

  /**
   * The launch may serve.
   *
   * @param slots requests that it is given at once, 0 for as many as it has slots
   * @param note what people read beside its name
   */
  record Passed(int slots, String note) implements Proof {}

  /**
   * The launch may not serve.
   *
   * @param reason one sentence without its end
   * @param slow whether less to do for its machine may help
   * @param sinceNanos when it was refused
   * @param pause how long until it is tried again
   * @param load what its machine's load was then, negative where unknown
   */
  record Refused(String reason, boolean slow, long sinceNanos, Duration pause, double load)
      implements Proof {}
}
