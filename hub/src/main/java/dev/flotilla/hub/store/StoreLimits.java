package dev.flotilla.hub.store;

import java.time.Duration;

/**
 * Every limit of the store, in one place.
 *
 * @param events newest events that are kept: 100,000
 * @param usage newest requests of the usage log that are kept: 1,000,000
 * @param workerHistory newest changes of workers that are kept: 10,000
 * @param revisions newest revisions of the configuration that are kept: 1,000
 * @param databaseBytes size that the database file never exceeds: 2 GiB. Full tables at their
 *     limits take about 0.4 GiB
 * @param writesWaiting acknowledged writes that may wait for the writer: 1,024
 * @param journalWaiting usage, events and worker changes that may wait for the writer: 16,384
 * @param writeWait how long a caller waits for the commit that holds its write: 30 s
 * @param readWait how long a caller waits for what it reads: 10 s
 * @param readsWaiting reads that may wait for a reading thread: 256
 * @param rowsAtOnce rows that one query returns at most: 10,000
 * @param busyTimeout how long SQLite waits for a lock that another process holds: 5 s
 * @param journalLinger how long the writer lets usage and events gather before it commits them: 0.2
 *     s
 * @param retryPauseFirst pause after the first failed attempt, doubled with each further one: 0.25
 *     s
 * @param retryPauseMax longest pause between attempts: 30 s
 */
public record StoreLimits(
    long events,
    long usage,
    long workerHistory,
    long revisions,
    long databaseBytes,
    int writesWaiting,
    int journalWaiting,
    Duration writeWait,
    Duration readWait,
    int readsWaiting,
    int rowsAtOnce,
    Duration busyTimeout,
    Duration journalLinger,
    Duration retryPauseFirst,
    Duration retryPauseMax) {

  public static final StoreLimits DEFAULT =
      new StoreLimits(
          100_000,
          1_000_000,
          10_000,
          1_000,
          2L << 30,
          1_024,
          16_384,
          Duration.ofSeconds(30),
          Duration.ofSeconds(10),
          256,
          10_000,
          Duration.ofSeconds(5),
          Duration.ofMillis(200),
          Duration.ofMillis(250),
          Duration.ofSeconds(30));

  /** Threads that read: a query never waits for a second one, and more than two gain nothing. */
  static final int READERS = 2;

  /** Rows of the journal that one transaction holds at most. */
  static final int JOURNAL_BATCH = 2_048;

  /** Nodes whose newest state may wait for the writer. */
  static final int LATEST_KEYS = 4_096;

  /** Acknowledged writes that one transaction holds at most. */
  static final int WRITE_BATCH = 256;

  /** Rows that are pruned from one table in one transaction, beyond those just inserted. */
  static final int PRUNE_BATCH = 1_000;

  /** The same limits with other retention. */
  public StoreLimits withRetention(long events, long usage, long workerHistory) {
    return new StoreLimits(
        events,
        usage,
        workerHistory,
        revisions,
        databaseBytes,
        writesWaiting,
        journalWaiting,
        writeWait,
        readWait,
        readsWaiting,
        rowsAtOnce,
        busyTimeout,
        journalLinger,
        retryPauseFirst,
        retryPauseMax);
  }

  /** The same limits with a smaller or larger file. */
  public StoreLimits withDatabaseBytes(long bytes) {
    return new StoreLimits(
        events,
        usage,
        workerHistory,
        revisions,
        bytes,
        writesWaiting,
        journalWaiting,
        writeWait,
        readWait,
        readsWaiting,
        rowsAtOnce,
        busyTimeout,
        journalLinger,
        retryPauseFirst,
        retryPauseMax);
  }

  /** The same limits with other queues. */
  public StoreLimits withWaiting(int writes, int journal) {
    return new StoreLimits(
        events,
        usage,
        workerHistory,
        revisions,
        databaseBytes,
        writes,
        journal,
        writeWait,
        readWait,
        readsWaiting,
        rowsAtOnce,
        busyTimeout,
        journalLinger,
        retryPauseFirst,
        retryPauseMax);
  }

  /** The same limits with other waits for locks and between attempts. */
  public StoreLimits withPauses(Duration busy, Duration pauseFirst, Duration pauseMax) {
    return new StoreLimits(
        events,
        usage,
        workerHistory,
        revisions,
        databaseBytes,
        writesWaiting,
        journalWaiting,
        writeWait,
        readWait,
        readsWaiting,
        rowsAtOnce,
        busy,
        journalLinger,
        pauseFirst,
        pauseMax);
  }
}
