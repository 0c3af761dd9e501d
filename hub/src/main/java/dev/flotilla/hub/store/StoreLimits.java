package dev.flotilla.hub.store;

import java.time.Duration;

/** Every limit of the store, in one place. */
public record StoreLimits(Kept kept, Waiting waiting, Pauses pauses) {

  /**
   * What is kept; the oldest goes.
   *
   * @param events newest events: 100,000
   * @param usage newest requests of the usage log: 1,000,000
   * @param workerHistory newest changes of workers: 10,000
   * @param revisions newest revisions of the configuration: 1,000
   * @param reports newest reports of measurements: 200
   * @param reportBytes what they may take together: 256 MiB
   * @param databaseBytes size that the database file never exceeds: 2 GiB. Full tables at their
   *     limits take about 0.7 GiB
   */
  public record Kept(
      long events,
      long usage,
      long workerHistory,
      long revisions,
      long reports,
      long reportBytes,
      long databaseBytes) {

    static final Kept DEFAULT =
        new Kept(100_000, 1_000_000, 10_000, 1_000, 200, 256L << 20, 2L << 30);

    /** The same in a smaller or larger file. */
    public Kept within(long databaseBytes) {
      return new Kept(events, usage, workerHistory, revisions, reports, reportBytes, databaseBytes);
    }
  }

  /**
   * What may wait, and for how long.
   *
   * @param writesWaiting acknowledged writes that may wait for the writer: 1,024
   * @param journalWaiting usage, events and worker changes that may wait for the writer: 16,384
   * @param readsWaiting reads that may wait for a reading thread: 256
   * @param rowsAtOnce rows that one query returns at most: 10,000
   * @param writeWait how long a caller waits for the commit that holds its write: 30 s
   * @param readWait how long a caller waits for what it reads: 10 s
   */
  public record Waiting(
      int writesWaiting,
      int journalWaiting,
      int readsWaiting,
      int rowsAtOnce,
      Duration writeWait,
      Duration readWait) {

    static final Waiting DEFAULT =
        new Waiting(1_024, 16_384, 256, 10_000, Duration.ofSeconds(30), Duration.ofSeconds(10));
  }

  /**
   * How the writer takes its time.
   *
   * @param busyTimeout how long SQLite waits for a lock that another process holds: 5 s
   * @param journalLinger how long the writer lets usage and events gather before it commits them:
   *     0.2 s
   * @param retryPauseFirst pause after the first failed attempt, doubled with each further one:
   *     0.25 s
   * @param retryPauseMax longest pause between attempts: 30 s
   */
  public record Pauses(
      Duration busyTimeout,
      Duration journalLinger,
      Duration retryPauseFirst,
      Duration retryPauseMax) {

    static final Pauses DEFAULT =
        new Pauses(
            Duration.ofSeconds(5),
            Duration.ofMillis(200),
            Duration.ofMillis(250),
            Duration.ofSeconds(30));
  }

  public static final StoreLimits DEFAULT =
      new StoreLimits(Kept.DEFAULT, Waiting.DEFAULT, Pauses.DEFAULT);

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

  /** The same limits, but for what is kept. */
  public StoreLimits with(Kept other) {
    return new StoreLimits(other, waiting, pauses);
  }

  /** The same limits, but for what may wait. */
  public StoreLimits with(Waiting other) {
    return new StoreLimits(kept, other, pauses);
  }

  /** The same limits, but for pauses. */
  public StoreLimits with(Pauses other) {
    return new StoreLimits(kept, waiting, other);
  }
}
