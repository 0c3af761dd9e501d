package dev.flotilla.hub.fleet;

import java.time.Duration;

/**
 * How long one node may hold up the others while versions go round.
 *
 * @param answer from an offer to the agent's first word on it
 * @param prepare until the version is fetched and unpacked there
 * @param back from the order to take over to the node's return, with either version
 * @param settle from its return until its workers serve again
 */
public record RolloutLimits(Duration answer, Duration prepare, Duration back, Duration settle) {

  public static final RolloutLimits DEFAULT =
      new RolloutLimits(
          Duration.ofSeconds(30),
          Duration.ofMinutes(30),
          Duration.ofMinutes(5),
          Duration.ofMinutes(10));
}
