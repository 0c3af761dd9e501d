package dev.flotilla.agent.update;

import java.time.Duration;

/**
 * Bounds of an update, on the agent's side.
 *
 * @param unpackedBytesMax all files of a release together, unpacked
 * @param entriesMax files of a release
 * @param silence how long the hub may send nothing of a release
 * @param tries in a row that bring nothing new, after which it is given up
 * @param pause between two tries
 * @param diskReserveBytes what stays free on the disk
 */
public record UpdateLimits(
    long unpackedBytesMax,
    int entriesMax,
    Duration silence,
    int tries,
    Duration pause,
    long diskReserveBytes) {

  public static final UpdateLimits DEFAULTS =
      new UpdateLimits(
          256L << 20, 256, Duration.ofSeconds(30), 10, Duration.ofSeconds(3), 256L << 20);
}
