package dev.flotilla.agent.process;

import java.time.Duration;

/**
 * What the supervisor waits for and keeps at most.
 *
 * @param readyWithin time that an engine has to answer, before its weights are counted (default 60
 *     s)
 * @param readyBytesPerSecond its weights add one second for so many bytes (default 20 MiB: a slow
 *     disk)
 * @param probeEvery pause between two questions whether it is ready (default 100 ms)
 * @param lookEvery pause between two looks at a running engine's memory (default 5 s)
 * @param aliveEvery time from one question whether a ready engine still answers to the next
 *     (default 5 s)
 * @param aliveWithin time that it has to answer one (default 5 s)
 * @param aliveMisses questions in a row without a right answer, after which it is killed and
 *     started again (default 3)
 * @param stopWithin time that an engine has to end by itself before it is killed (default 4 s)
 * @param firstPause before the first restart; doubles with each (default 1 s)
 * @param longestPause between restarts (default 60 s)
 * @param ranWell an engine that was ready for so long starts again with the first pause (default 60
 *     s)
 * @param refusedPause before another look at a worker that can't be started as asked (default 2
 *     min)
 * @param portTries ports that are tried in one launch (default 5)
 * @param workersMax workers of one node (default 64)
 * @param logBytesMax bytes of a worker's log file; the one before is kept beside it (default 8 MiB)
 */
public record SupervisorLimits(
    Duration readyWithin,
    long readyBytesPerSecond,
    Duration probeEvery,
    Duration lookEvery,
    Duration aliveEvery,
    Duration aliveWithin,
    int aliveMisses,
    Duration stopWithin,
    Duration firstPause,
    Duration longestPause,
    Duration ranWell,
    Duration refusedPause,
    int portTries,
    int workersMax,
    long logBytesMax) {

  public static final SupervisorLimits DEFAULTS =
      new SupervisorLimits(
          Duration.ofSeconds(60),
          20L << 20,
          Duration.ofMillis(100),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          3,
          Duration.ofSeconds(4),
          Duration.ofSeconds(1),
          Duration.ofSeconds(60),
          Duration.ofSeconds(60),
          Duration.ofMinutes(2),
          5,
          64,
          8L << 20);

  /** How long an engine with these weights may take until it answers. */
  Duration readyWithin(long weightBytes) {
    return readyWithin.plusSeconds(weightBytes / readyBytesPerSecond);
  }

  /**
   * The pause before a restart.
   *
   * @param failures restarts before this one that did not run well
   * @param chance from 0 to 1: spreads the pause by a fifth to both sides
   */
  Duration pause(int failures, double chance) {
    double due =
        Math.min(firstPause.toMillis() * Math.pow(2, failures), (double) longestPause.toMillis());
    return Duration.ofMillis(
        Math.min((long) (due * (0.8 + 0.4 * chance)), longestPause.toMillis()));
  }
}
