package dev.flotilla.bench.measure;

/**
 * What the load generator itself did during a run: whether what was measured was the server, or the
 * client that measured it. All zero where nobody looked, as in a run that was made of a trace.
 *
 * @param cpuNanos processor time of the generator's process, from the run's start to its end
 * @param cores processors that it could use
 * @param wakeP99Nanos how much later than due a thread of the generator woke, 99th percentile over
 *     the whole run, one sample each few milliseconds: the same delay stands before every arrival
 *     that is read
 * @param wakeMaxNanos the worst of those
 * @param sendP99Nanos how much later than it could a request was sent, 99th percentile: counted
 *     from when it was due, or from when a place below the limit of concurrency was free if that
 *     was later. 0 in a closed loop, where nothing is due
 * @param sendMaxNanos the worst of those
 */
public record Generator(
    long cpuNanos,
    int cores,
    long wakeP99Nanos,
    long wakeMaxNanos,
    long sendP99Nanos,
    long sendMaxNanos) {

  /** Of a run at which nobody looked. */
  public static final Generator UNOBSERVED = new Generator(0, 0, 0, 0, 0, 0);

  /**
   * The share of its processors that the generator used.
   *
   * @return 0 to 1; 0 where nobody looked
   */
  public double busy(long durationNanos) {
    return cores == 0 || durationNanos <= 0 ? 0 : (double) cpuNanos / durationNanos / cores;
  }
}
