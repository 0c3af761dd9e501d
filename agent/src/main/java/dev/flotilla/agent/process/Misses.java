package dev.flotilla.agent.process;

import java.time.Duration;

/**
 * Counts how often in a row a ready engine did not answer, and decides when that is enough.
 *
 * <p>A miss says something of the engine only if the one who asked was not held up: after a sleep
 * of the machine, or where the agent itself got no processor time, everything looks late. A round
 * that took some intervals longer than it can by itself therefore begins the count anew.
 *
 * <p>Pure but for its count; for one thread.
 */
final class Misses {
  /** A round this many intervals late says nothing. */
  private static final int LATE_INTERVALS = 2;

  private final SupervisorLimits limits;
  private int inARow;

  Misses(SupervisorLimits limits) {
    this.limits = limits;
  }

  /** The engine answered as itself. */
  void answered() {
    inARow = 0;
  }

  /**
   * The engine did not answer, or not as itself.
   *
   * @param round time from the end of the round before to the end of this one, by whichever clock
   *     saw more
   * @return whether it is to be given up
   */
  boolean missed(Duration round) {
    Duration longest =
        limits.aliveEvery().multipliedBy(1 + LATE_INTERVALS).plus(limits.aliveWithin());
    inARow = round.compareTo(longest) > 0 ? 0 : inARow + 1;
    return inARow >= limits.aliveMisses();
  }

  int inARow() {
    return inARow;
  }
}
