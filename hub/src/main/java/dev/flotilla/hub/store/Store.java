package dev.flotilla.hub.store;

import dev.flotilla.wire.files.OwnerOnly;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * What the hub remembers: one SQLite file, {@code HOME/hub/hub.db}.
 *
 * <p>Two ways in. <b>Acknowledged writes</b> (revisions, nodes, tokens, keys, reports) return after
 * the commit that holds them and throw {@link StoreFailed} otherwise; a kill at any time loses
 * none. <b>The journal</b> (usage, events, the workers' history) only enqueues; the same thread
 * writes it a fraction of a second later, and a kill loses that fraction. Reads run on a few
 * threads of their own. No request of a client ever waits for any of it.
 *
 * <p><b>Concurrency.</b> All methods may be called by any thread; those that read or write park the
 * caller, within {@link StoreLimits}.
 *
 * <p><b>Failure.</b> A disk that is full, read-only or broken, a damaged file and another process's
 * lock turn {@link #health()} to {@link StoreHealth.Failing}; the store goes on trying by itself.
 * Only {@link #open} refuses: a hub that can't read what it promised to remember does not start.
 *
 * <p><b>Life.</b> {@link #open}, then use, then {@link #close()}, which writes what waits.
 */
public final class Store implements Journal, AutoCloseable {

  private final StoreLimits limits;
  private final InstantSource clock;
  private final Backlog backlog;
  private final Writer writer;
  private final Readers readers;
  private volatile @Nullable Instant unreadableSince;

  private Store(Database database, StoreLimits limits, InstantSource clock, Handle opened) {
    this.limits = limits;
    this.clock = clock;
    this.backlog = new Backlog(limits);
    this.writer = new Writer(database, limits, clock, backlog, opened);
    this.readers = new Readers(database, limits);
  }

  /**
   * Opens the database, making it and its folder where there is none, and brings its schema up to
   * date.
   *
   * @param home the state folder; the file is {@code home/hub/hub.db}
   * @throws StoreFailed where it can't be opened: damaged, of another program, newer than this one,
   *     on a full or read-only disk
   */
  public static Store open(Path home, StoreLimits limits, InstantSource clock) throws StoreFailed {
    Path file = home.resolve("hub").resolve("hub.db");
    try {
      Files.createDirectories(file.getParent(), OwnerOnly.folder());
    } catch (IOException e) {
      throw new StoreFailed(
          "the folder %s can't be made (%s): choose another --home"
              .formatted(file.getParent(), e.getMessage()),
          e);
    }
    Database database = new Database(file, limits);
    Handle handle = null;
    try {
      handle = database.openWriter();
      Migrations.run(handle, file);
      return new Store(database, limits, clock, handle);
    } catch (StoreFailed e) {
      handle.close();
      throw e;
    } catch (RuntimeException e) {
      if (handle != null) {
        handle.close();
      }
      throw new StoreFailed("the hub can't start: " + Fault.of(e, file).sentence(), e);
    }
  }

  @Override
  public void usage(Usage usage) {
    backlog.offer(usage);
  }

  @Override
  public void event(Severity severity, String kind, String subject, String message) {
    backlog.offer(new Event(0, clock.instant(), severity, kind, subject, message));
  }

  /** Puts one step of a worker's life into its history. Never blocks, never throws. */
  public void workerChanged(WorkerChange change) {
    backlog.offer(change);
  }

  public StoreHealth health() {
    StoreHealth writing = writer.health();
    Fault reading = readers.fault();
    if (!writing.ok() || reading == null) {
      unreadableSince = null;
      return writing;
    }
    Instant since = unreadableSince;
    if (since == null) {
      since = clock.instant();
      unreadableSince = since;
    }
    return new StoreHealth.Failing(since, reading.sentence());
  }

  /** Rows of usage, events and history that were not stored since the start. */
  public long journalDropped() {
    return backlog.dropped();
  }

  /** Rows of usage, events and history that wait to be stored. */
  public int journalWaiting() {
    return backlog.journalWaiting();
  }

  /** Acknowledged writes that wait for the writer. */
  public int writesWaiting() {
    return backlog.writesWaiting();
  }

  /** Transactions since the start: fewer than writes, because writes share them. */
  public long commits() {
    return writer.commits();
  }

  public RevisionTable revisions() {
    return new RevisionTable(this);
  }

  public NodeTable nodes() {
    return new NodeTable(this);
  }

  /** What the fleet keeps over a restart of the hub. */
  public FleetMemory fleetMemory() {
    return new StoredFleetMemory(this);
  }

  public ClientKeyTable clientKeys() {
    return new ClientKeyTable(this);
  }

  public EnrolmentTokenTable enrolmentTokens() {
    return new EnrolmentTokenTable(this);
  }

  public EventTable events() {
    return new EventTable(this);
  }

  public UsageTable usageLog() {
    return new UsageTable(this);
  }

  public WorkerHistoryTable workerHistory() {
    return new WorkerHistoryTable(this);
  }

  public ProofTable proofs() {
    return new ProofTable(this);
  }

  public ReportTable reports() {
    return new ReportTable(this);
  }

  /** Waits until everything that the journal took before this call is stored. */
  public void flush() throws StoreFailed {
    // Rows go into the same or an earlier transaction than a write that comes after them.
    write("the journal", handle -> Boolean.TRUE);
  }

  /** Runs {@code work} in a transaction and returns after its commit. */
  <T> T write(String what, Writer.Work<T> work) throws StoreFailed {
    return writer.write(what, work);
  }

  /** Keeps the newest {@code work} of each key for the writer, as the journal does its rows. */
  void writeLatest(String key, Consumer<Handle> work) {
    backlog.offerLatest(key, work);
  }

  <T> T read(String what, Writer.Work<T> work) throws StoreFailed {
    return readers.read(what, work);
  }

  /** A number of rows that may be asked for. */
  int rows(int wanted) {
    return Math.clamp(wanted, 1, limits.waiting().rowsAtOnce());
  }

  StoreLimits limits() {
    return limits;
  }

  Instant now() {
    return clock.instant();
  }

  @Override
  public void close() {
    readers.close();
    writer.close();
  }
}
