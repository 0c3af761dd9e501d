package dev.flotilla.wire.connection;

import java.time.Duration;

/**
 * How long one exchange may take.
 *
 * @param firstByte from the request's last byte to the reply's first: queueing in the engine and
 *     the whole prefill lie in it (default 10 min)
 * @param gap silence between two chunks of a reply (default 60 s)
 * @param whole from the start of the exchange to the end of the reply (default 1 h)
 */
public record DeadlineLimits(Duration firstByte, Duration gap, Duration whole) {
  public static final DeadlineLimits DEFAULTS =
      new DeadlineLimits(Duration.ofMinutes(10), Duration.ofSeconds(60), Duration.ofHours(1));

  public DeadlineLimits {
    for (Duration limit : new Duration[] {firstByte, gap, whole}) {
      if (limit.isNegative() || limit.isZero()) {
        throw new IllegalArgumentException("a time limit of an exchange is not above zero");
      }
    }
  }
}
