package dev.flotilla.hub.store;

import dev.flotilla.hub.store.Backlog.Batch;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that writes.
 *
 * <p><b>Why a platform thread.</b> SQLite is native code: a virtual thread in it would hold its
 * carrier through each wait for the disk. So callers hand their write over and park.
 *
 * <p><b>Group commit.</b> The thread takes whatever waits in the {@link Backlog} (writes that
 * somebody waits for, and rows of the journal), runs it in one transaction, and tells each caller
 * after that commit: under load many callers share one wait for the disk. Each write has a
 * savepoint of its own, so one that fails by itself takes no other with it.
 *
 * <p><b>When the disk does not let it.</b> The transaction is rolled back; every caller in it gets
 * an error of its own, now, because a person waits for it. Rows of the journal stay in the batch
 * and are tried again after a pause that doubles up to a limit; meanwhile their queue fills, and
 * what does not fit is counted as dropped. A caller that comes during a pause is tried at once, so
 * freeing the disk and trying again works. The connection is opened anew before each such attempt.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>A caller hears "stored" only after a commit that holds its write.
 *   <li>A caller that gave up before its write was begun has not written.
 *   <li>Rows of the journal are stored in the order in which they came, each at most once.
 *   <li>A write that comes after a row is committed with it or later, unless writing fails between.
 * </ul>
 *
 * <p><b>Life.</b> Started by its constructor; {@link #close()} lets it finish what waits (one
 * attempt), within a limit.
 */
final class Writer implements AutoCloseable {

  private static final Logger LOG = System.getLogger(Writer.class.getName());
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(10);

  /** A write, run inside the transaction. */
  interface Work<T> {
    T run(Handle handle);
  }

  private final Database database;
  private final StoreLimits limits;
  private final InstantSource clock;
  private final Backlog backlog;
  private final Thread thread;

  // Written by the writing thread alone.
  private @Nullable Handle handle;
  private int failures;
  private long retryAtNanos;
  private final AtomicLong commits = new AtomicLong();
  private volatile StoreHealth health = StoreHealth.Ok.OK;

  Writer(
      Database database, StoreLimits limits, InstantSource clock, Backlog backlog, Handle opened) {
    this.database = database;
    this.limits = limits;
    this.clock = clock;
    this.backlog = backlog;
    this.handle = opened;
    this.thread = Thread.ofPlatform().name("store-writer").daemon(true).start(this::loop);
  }

  /** Runs {@code work} and returns after the commit that holds it. */
  <T> T write(String what, Work<T> work) throws StoreFailed {
    WriteRequest<T> request = new WriteRequest<>(what, work);
    backlog.add(request);
    return request.await(limits.waiting().writeWait());
  }

  StoreHealth health() {
    return health;
  }

  long commits() {
    return commits.get();
  }

  private void loop() {
    Batch batch = new Batch();
    // The first attempt has nothing to write but shows whether writing works.
    attempt(batch);
    while (true) {
      try {
        if (!backlog.take(batch, failures > 0, retryAtNanos)) {
          break;
        }
      } catch (InterruptedException e) {
        // Nobody interrupts this thread; close() is what ends it, with nothing left behind.
        continue;
      }
      attempt(batch);
      batch.writes.clear();
    }
    Handle open = handle;
    if (open != null) {
      closeQuietly(open);
    }
  }

  private void attempt(Batch batch) {
    try {
      Handle open = handle;
      if (open == null) {
        open = database.openWriter();
        handle = open;
      }
      open.begin();
      for (WriteRequest<?> request : batch.writes) {
        runOne(open, request);
      }
      if (batch.hasRows()) {
        storeRows(open, batch);
      }
      if (failures > 0 || commits.get() == 0) {
        // Something must be written for a commit to prove anything.
        open.execute("PRAGMA user_version = " + Migrations.NEWEST);
      }
      open.commit();
    } catch (RuntimeException | Error e) {
      // Also an Error: without this thread nothing would ever be stored again, and nobody told.
      failed(batch, e);
      return;
    }
    commits.incrementAndGet();
    batch.clearRows();
    if (failures > 0) {
      // As loud as what it takes back.
      LOG.log(Level.WARNING, "The store writes again: {0}", database.file());
    }
    failures = 0;
    health = StoreHealth.Ok.OK;
    batch.writes.forEach(WriteRequest::tell);
  }

  /** Runs one write in its savepoint. What the surroundings refuse ends the whole transaction. */
  private void runOne(Handle open, WriteRequest<?> request) {
    open.savepoint("one");
    try {
      request.run(open);
    } catch (RuntimeException e) {
      Fault fault = Fault.of(e, database.file());
      if (fault.surroundings()) {
        throw e;
      }
      LOG.log(Level.ERROR, "The store could not write " + request.what(), e);
      request.failedByItself(fault, e);
      // Rolled back, the savepoint is gone for JDBI, and ends for SQLite with the transaction.
      open.rollbackToSavepoint("one");
      return;
    }
    open.releaseSavepoint("one");
  }

  private void storeRows(Handle open, Batch batch) {
    open.savepoint("rows");
    try {
      JournalTables.insert(open, batch.rows, limits);
      batch.latest.values().forEach(work -> work.accept(open));
    } catch (RuntimeException e) {
      if (Fault.of(e, database.file()).surroundings()) {
        throw e;
      }
      // A row that SQLite will never take must not hold up all that come after it.
      LOG.log(Level.ERROR, "The store dropped " + batch.rowCount() + " rows of the journal", e);
      backlog.countDropped(batch.rowCount());
      open.rollbackToSavepoint("rows");
      return;
    }
    open.releaseSavepoint("rows");
  }

  private void failed(Batch batch, Throwable thrown) {
    Fault fault = Fault.of(thrown, database.file());
    Handle open = handle;
    handle = null;
    if (open != null) {
      closeQuietly(open);
    }
    failures++;
    long pause = limits.pauses().retryPauseFirst().toNanos() << Math.min(failures - 1, 20);
    retryAtNanos = System.nanoTime() + Math.min(pause, limits.pauses().retryPauseMax().toNanos());
    if (health instanceof StoreHealth.Failing before) {
      health = new StoreHealth.Failing(before.since(), fault.sentence());
    } else {
      String what = "The store can't write, requests are served on: " + fault.sentence();
      if (fault.surroundings()) {
        LOG.log(Level.ERROR, what);
        LOG.log(Level.DEBUG, "why it can't write", thrown);
      } else {
        LOG.log(Level.ERROR, what, thrown);
      }
      health = new StoreHealth.Failing(clock.instant(), fault.sentence());
    }
    for (WriteRequest<?> request : batch.writes) {
      request.fail(fault, thrown);
    }
  }

  private static void closeQuietly(Handle open) {
    try {
      if (open.isInTransaction()) {
        open.rollback();
      }
    } catch (RuntimeException e) {
      LOG.log(Level.DEBUG, "rolling back", e);
    }
    try {
      open.close();
    } catch (RuntimeException e) {
      LOG.log(Level.DEBUG, "closing the database", e);
    }
  }

  @Override
  public void close() {
    backlog.close();
    try {
      if (!thread.join(CLOSE_LIMIT)) {
        LOG.log(Level.WARNING, "The store did not finish writing within {0}", CLOSE_LIMIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
