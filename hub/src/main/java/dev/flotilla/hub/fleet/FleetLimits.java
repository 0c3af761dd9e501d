package dev.flotilla.hub.fleet;

import java.time.Duration;

/**
 * Times and bounds of the fleet.
 *
 * @param heartbeat how often an agent is asked to speak; two of silence make its workers SUSPECT,
 *     three LOST
 * @param drain how long a draining worker may take to finish what runs
 * @param away how long a node that is gone keeps its workers placed, before others are placed
 *     elsewhere
 * @param shown how long workers of a node that is away stay in the listing, once it is gone and
 *     they count for nothing; at once where its agent ended and others serve in their place
 * @param refusedPause how long a node is left alone with a model that it refused
 * @param proofPause how long a worker that fell short in its proof is left alone, the first time;
 *     doubles
 * @param proofPauseMax longest such pause
 * @param nodesMax nodes that a hub knows; one more is refused
 * @param eventsPerMinute events that one agent may put into the log in a minute; more are counted
 * @param progressMax long steps shown at once
 */
public record FleetLimits(
    Duration heartbeat,
    Duration drain,
    Duration away,
    Duration shown,
    Duration refusedPause,
    Duration proofPause,
    Duration proofPauseMax,
    int nodesMax,
    int eventsPerMinute,
    int progressMax) {

  public static final FleetLimits DEFAULT =
      new FleetLimits(
          Duration.ofSeconds(2),
          Duration.ofSeconds(120),
          Duration.ofSeconds(60),
          Duration.ofMinutes(10),
          Duration.ofMinutes(10),
          Duration.ofSeconds(30),
          Duration.ofMinutes(10),
          256,
          60,
          64);

  /** Silence after which nothing new is sent to a node's workers. */
  Duration suspectAfter() {
    return heartbeat.multipliedBy(2);
  }

  /** Silence after which a node's workers are lost. */
  Duration lostAfter() {
    return heartbeat.multipliedBy(3);
  }
}
