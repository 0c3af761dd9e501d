package dev.flotilla.shape.probe;

import java.time.Duration;

/**
 * What a run of probes takes of a server at most.
 *
 * @param connect for a connection (default 5 s)
 * @param call one probe, from its connection to the end of its reply (default 60 s)
 * @param run all probes together; what is left is not asked (default 10 min)
 * @param replyBytesMax the body of one reply; of a longer one the beginning is judged (default 1
 *     MiB)
 * @param eventsMax events of one stream that are read (default 4,096)
 * @param factsMax facts of one shape (default 400)
 * @param silentMax probes in a row without any reply, after which the rest is not asked (default 3)
 */
public record ProbeLimits(
    Duration connect,
    Duration call,
    Duration run,
    int replyBytesMax,
    int eventsMax,
    int factsMax,
    int silentMax) {

  public static final ProbeLimits DEFAULTS =
      new ProbeLimits(
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofMinutes(10),
          1 << 20,
          4_096,
          400,
          3);

  public ProbeLimits {
    for (Duration limit : new Duration[] {connect, call, run}) {
      if (limit.isNegative() || limit.isZero()) {
        throw new IllegalArgumentException("a time limit of probes is not above zero");
      }
    }
    if (replyBytesMax < 1 || eventsMax < 1 || factsMax < 1 || silentMax < 1) {
      throw new IllegalArgumentException("a limit of probes is not above zero");
    }
  }

  /** The same, but for one probe's time. */
  public ProbeLimits withCall(Duration time) {
    return new ProbeLimits(connect, time, run, replyBytesMax, eventsMax, factsMax, silentMax);
  }

  /** The same, but for the whole run's time. */
  public ProbeLimits withRun(Duration time) {
    return new ProbeLimits(connect, call, time, replyBytesMax, eventsMax, factsMax, silentMax);
  }
}
