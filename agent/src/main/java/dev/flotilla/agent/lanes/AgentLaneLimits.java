package dev.flotilla.agent.lanes;

import java.time.Duration;

/**
 * Bounds of the agent's end of the lanes. How many lanes there are, and how often the agent speaks,
 * the hub says in its welcome.
 *
 * @param connect how long a connection to the hub may take, TLS included
 * @param handshake how long the hub may take to answer an upgrade, an enrolment or a hello
 * @param engineConnect how long the connection to an engine's port may take
 * @param openLine how long the rest of a line that has begun may take
 * @param linger how long a lane stays open for its last bytes after the engine closed
 * @param goodbye how long the end of the agent waits for its last words to be sent
 * @param firstPause pause after the first failure to reach the hub; doubles with each
 * @param longestPause longest such pause: with the hub's own start it bounds how long a fleet is
 *     without its nodes after the hub's restart
 * @param dialsAtOnce work lanes that are being dialled at the same time
 * @param eventsKept events that wait for a hub that is away; the oldest are dropped, and counted
 * @param subjectsKept long steps whose newest state waits for a hub that is away
 */
public record AgentLaneLimits(
    Duration connect,
    Duration handshake,
    Duration engineConnect,
    Duration openLine,
    Duration linger,
    Duration goodbye,
    Duration firstPause,
    Duration longestPause,
    int dialsAtOnce,
    int eventsKept,
    int subjectsKept) {

  /** 5 s, 10 s, 2 s, 5 s, 1 s, 1 s, 0.2 s, 2 s, 32, 1,000, 64. */
  public static final AgentLaneLimits DEFAULT =
      new AgentLaneLimits(
          Duration.ofSeconds(5),
          Duration.ofSeconds(10),
          Duration.ofSeconds(2),
          Duration.ofSeconds(5),
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ofMillis(200),
          Duration.ofSeconds(2),
          32,
          1000,
          64);
}
