package dev.flotilla.hub.routing;

import dev.flotilla.hub.spec.FleetSpec;
import java.time.Duration;

/**
 * Bounds of the queue of each public name.
 *
 * @param perName requests that may wait for one name; 256 unless configured
 * @param perKey requests of one client key that may wait for one name; half of {@code perName}, so
 *     that one client can't take the whole queue. Does not bind where no keys are demanded
 * @param longestWait how long a request may wait; 2 minutes unless configured
 */
public record QueueLimits(int perName, int perKey, Duration longestWait) {

  public static QueueLimits of(FleetSpec.Limits limits) {
    return new QueueLimits(
        limits.queuePerModel(), Math.max(1, limits.queuePerModel() / 2), limits.queueWait());
  }
}
