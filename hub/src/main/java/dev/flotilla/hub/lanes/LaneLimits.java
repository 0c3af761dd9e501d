package dev.flotilla.hub.lanes;

import java.time.Duration;

/**
 * Bounds of the hub's end of the lanes. All counts are per node unless said otherwise.
 *
 * @param idleLanes work lanes that an agent is asked to keep waiting unopened
 * @param unopenedMax unopened work lanes that the hub keeps; one more is closed
 * @param lanesMax work lanes of any kind; one more is refused with 503
 * @param laneWait how long a request waits at most for a lane to be donated
 * @param openWait how long an agent may take to answer OPEN
 * @param boundIdle how long an opened lane stays open without a request
 * @param surplusIdle how long an unopened lane beyond {@code idleLanes} is kept
 * @param hello how long a new control lane may take to say hello
 * @param outbox messages that may wait for a slow agent; one more cuts its control lane
 * @param enrolmentsPerMinute attempts to enrol that are looked at, in the whole hub
 */
public record LaneLimits(
    int idleLanes,
    int unopenedMax,
    int lanesMax,
    Duration laneWait,
    Duration openWait,
    Duration boundIdle,
    Duration surplusIdle,
    Duration hello,
    int outbox,
    int enrolmentsPerMinute) {

  public static final LaneLimits DEFAULT =
      new LaneLimits(
          8,
          512,
          1024,
          Duration.ofSeconds(5),
          Duration.ofSeconds(3),
          Duration.ofSeconds(15),
          Duration.ofSeconds(60),
          Duration.ofSeconds(10),
          256,
          60);

  public LaneLimits {
    if (idleLanes < 1 || unopenedMax < idleLanes || lanesMax < unopenedMax) {
      throw new IllegalArgumentException(
          "lanes per node: 1 <= idle "
              + idleLanes
              + " <= unopened "
              + unopenedMax
              + " <= all "
              + lanesMax
              + " does not hold");
    }
  }
}
