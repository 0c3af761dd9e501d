package dev.flotilla.engine.schedule;

/**
 * How much the scheduler takes on.
 *
 * @param rowsMax tokens that one step computes at most, all sequences together
 * @param sequencesMax sequences that run at once; at most {@code rowsMax}, so that each can go on
 *     in every step
 * @param waitingMax sequences that wait to run while all that may run do; one more is refused
 */
public record ScheduleLimits(int rowsMax, int sequencesMax, int waitingMax) {
  /** 256 tokens a step, 32 sequences at once, 256 that wait. */
  public static final ScheduleLimits DEFAULT = new ScheduleLimits(256, 32, 256);

  public ScheduleLimits {
    if (sequencesMax < 1 || waitingMax < 1 || rowsMax < sequencesMax) {
      throw new IllegalArgumentException(
          sequencesMax + " sequences, " + rowsMax + " tokens a step, " + waitingMax + " waiting");
    }
  }

  /** Sequences that run or wait at most. */
  public int openMax() {
    return sequencesMax + waitingMax;
  }
}
