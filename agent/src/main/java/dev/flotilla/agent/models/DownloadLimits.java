package dev.flotilla.agent.models;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The limits of a download.
 *
 * @param connect longest wait for a connection
 * @param headers longest wait for the head of a reply
 * @param stall longest time without a byte of the body, after which the connection is given up
 * @param attemptsWithoutProgress tries in a row that may bring nothing new before it fails
 * @param attempts tries in all
 * @param firstPause pause before the second try in a row without progress; doubles with each
 * @param longestPause longest pause between two tries, also where the server asks for more
 * @param redirects redirects that one request follows
 * @param diskReserveBytes what stays free on the disk
 * @param othersWait longest wait for another process that fetches the same file
 * @param pip longest run of {@code pip}, which itself may fetch the package to read its metadata
 */
public record DownloadLimits(
    Duration connect,
    Duration headers,
    Duration stall,
    int attemptsWithoutProgress,
    int attempts,
    Duration firstPause,
    Duration longestPause,
    int redirects,
    long diskReserveBytes,
    Duration othersWait,
    Duration pip) {

  /** 10 s, 30 s, 30 s, 5, 100, 0.5 s, 15 s, 8, 512 MiB, 12 h, 10 min. */
  public static DownloadLimits defaults() {
    return new DownloadLimits(
        Duration.ofSeconds(10),
        Duration.ofSeconds(30),
        Duration.ofSeconds(30),
        5,
        100,
        Duration.ofMillis(500),
        Duration.ofSeconds(15),
        8,
        512L << 20,
        Duration.ofHours(12),
        Duration.ofMinutes(10));
  }

  /**
   * The pause, with jitter, after so many tries without progress.
   *
   * @param notBefore what the server asked for
   */
  Duration pause(int inARow, Duration notBefore) {
    long doubled = firstPause.toMillis() << Math.min(inARow - 1, 16);
    long millis = Math.min(Math.max(doubled, notBefore.toMillis()), longestPause.toMillis());
    return Duration.ofMillis(millis / 2 + ThreadLocalRandom.current().nextLong(millis / 2 + 1));
  }
}
