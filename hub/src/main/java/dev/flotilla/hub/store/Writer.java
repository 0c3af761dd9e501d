package dev.flotilla.hub.store;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jspecify.annotations.Nullable;

/**
 * The one thread that writes.
 *
 * <p><b>Why a platform thread.</b> SQLite is native code: a virtual thread in it would hold its
 * carrier through each wait for the disk. So callers hand their write over and park.
 *
 * <p><b>Group commit.</b> The thread takes whatever waits (writes that somebody waits for, and rows
 * of the journal), runs it in one transaction, and tells each caller after that commit: under load
 * many callers share one wait for the disk. Each write has a savepoint of its own, so one that
 * fails by itself takes no other with it.
 *
 * <p><b>When the disk does not let it.</b> The transaction is rolled back; every caller in it gets
 * an error of its own, now, because a person waits for it. Rows of the journal stay and are tried
 * again after a pause that doubles up to a limit; meanwhile their queue fills, and what does not
 * fit is counted as dropped. A caller that comes during a pause is tried at once, so freeing the
 * disk and trying again works. The connection is opened anew before each such attempt.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>A caller hears "stored" only after a commit that holds its write.
 *   <li>A caller that gave up before its write was begun has not written: whoever changes the
 *       request's {@code claimed} first decides.
 *   <li>Rows of the journal are stored in the order in which they came, each at most once.
 *   <li>{@code journal}, {@code writes} and {@code carried} are bounded by {@link StoreLimits}.
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

  private static final class Request<T> {
    final String what;
    final Work<T> work;
    final CompletableFuture<T> answer = new CompletableFuture<>();
    final AtomicBoolean claimed = new AtomicBoolean();
    @Nullable T result;
    @Nullable Fault own;
    @Nullable Throwable cause;

    Request(String what, Work<T> work) {
      this.what = what;
      this.work = work;
    }

    void run(Handle handle) {
      result = work.run(handle);
    }

    void tell() {
      Fault fault = own;
      if (fault != null) {
        fail(fault, cause);
      } else {
        @SuppressWarnings("NullAway") // set by run(); null only where T itself admits it
        T stored = result;
        answer.complete(stored);
      }
    }

    void fail(Fault fault, @Nullable Throwable why) {
      answer.completeExceptionally(
          new StoreFailed(what + " was not stored: " + fault.sentence(), why));
    }
  }

  private final Database database;
  private final StoreLimits limits;
  private final InstantSource clock;
  private final Thread thread;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  // Guarded by lock.
  private final ArrayDeque<Request<?>> writes = new ArrayDeque<>();
  private final ArrayDeque<JournalRow> journal = new ArrayDeque<>();
  private final Map<String, Consumer<Handle>> latest = new LinkedHashMap<>();
  private boolean closed;
  private long dropped;

  // Written by the writing thread alone.
  private final List<JournalRow> carried = new ArrayList<>();
  private final Map<String, Consumer<Handle>> carriedLatest = new LinkedHashMap<>();
  private @Nullable Handle handle;
  private int failures;
  private long retryAtNanos;
  private final AtomicLong commits = new AtomicLong();
  private volatile StoreHealth health = StoreHealth.Ok.OK;

  Writer(Database database, StoreLimits limits, InstantSource clock, Handle opened) {
    this.database = database;
    this.limits = limits;
    this.clock = clock;
    this.handle = opened;
    this.thread = Thread.ofPlatform().name("store-writer").daemon(true).start(this::loop);
  }

  /** Puts a row into the queue; false where the queue is full or the store is closed. */
  boolean offer(JournalRow row) {
    lock.lock();
    try {
      if (closed || journal.size() >= limits.journalWaiting()) {
        dropped++;
        return false;
      }
      journal.add(row);
      // The first row starts the linger, a full batch ends it; the rows between wake nobody.
      if (journal.size() == 1 || journal.size() == StoreLimits.JOURNAL_BATCH) {
        arrived.signal();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Puts {@code work} in place of what waits under the same key. */
  void offerLatest(String key, Consumer<Handle> work) {
    lock.lock();
    try {
      if (closed || (latest.size() >= StoreLimits.LATEST_KEYS && !latest.containsKey(key))) {
        dropped++;
        return;
      }
      latest.put(key, work);
      if (latest.size() == 1) {
        arrived.signal();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Runs {@code work} and returns after the commit that holds it. */
  <T> T write(String what, Work<T> work) throws StoreFailed {
    Request<T> request = new Request<>(what, work);
    lock.lock();
    try {
      if (closed) {
        throw new StoreFailed(what + " was not stored: the hub is stopping", null);
      }
      if (writes.size() >= limits.writesWaiting()) {
        throw new StoreFailed(
            "%s was not stored: %d writes wait already (the limit); try again in a moment"
                .formatted(what, writes.size()),
            null);
      }
      writes.add(request);
      arrived.signal();
    } finally {
      lock.unlock();
    }
    return await(request);
  }

  private <T> T await(Request<T> request) throws StoreFailed {
    try {
      return request.answer.get(limits.writeWait().toNanos(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StoreFailed failed) {
        throw failed;
      }
      throw new IllegalStateException("the writer answers with StoreFailed alone", e);
    } catch (TimeoutException e) {
      throw gaveUp(
          request, "the disk did not answer within " + limits.writeWait().toSeconds() + " s", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw gaveUp(request, "the wait for the disk was interrupted", e);
    }
  }

  private static StoreFailed gaveUp(Request<?> request, String why, Exception cause) {
    boolean neverBegun = request.claimed.compareAndSet(false, true);
    return new StoreFailed(
        neverBegun
            ? request.what + " was not stored: " + why
            : "whether "
                + request.what
                + " was stored is not known: "
                + why
                + "; look before trying again",
        cause);
  }

  StoreHealth health() {
    return health;
  }

  long dropped() {
    lock.lock();
    try {
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  int journalWaiting() {
    lock.lock();
    try {
      return journal.size();
    } finally {
      lock.unlock();
    }
  }

  int writesWaiting() {
    lock.lock();
    try {
      return writes.size();
    } finally {
      lock.unlock();
    }
  }

  long commits() {
    return commits.get();
  }

  // ---- the writing thread -------------------------------------------------------------------

  private void loop() {
    List<Request<?>> batch = new ArrayList<>();
    // The first attempt has nothing to write but shows whether writing works.
    attempt(batch);
    while (true) {
      try {
        if (!awaitWork(batch)) {
          break;
        }
      } catch (InterruptedException e) {
        // Nobody interrupts this thread; close() is what ends it, with nothing left behind.
        continue;
      }
      attempt(batch);
      batch.clear();
    }
    Handle open = handle;
    if (open != null) {
      closeQuietly(open);
    }
  }

  /** Waits for work and takes it; false where the store is closed and nothing waits. */
  private boolean awaitWork(List<Request<?>> batch) throws InterruptedException {
    lock.lock();
    try {
      while (!closed && writes.isEmpty() && !journalDue()) {
        long pause = nanosUntilJournalDue();
        if (pause == Long.MAX_VALUE) {
          arrived.await();
        } else {
          arrived.awaitNanos(pause);
        }
      }
      if (failures == 0 && !closed) {
        linger();
      }
      while (batch.size() < StoreLimits.WRITE_BATCH && !writes.isEmpty()) {
        Request<?> request = writes.remove();
        if (request.claimed.compareAndSet(false, true)) {
          batch.add(request);
        }
      }
      if (failures == 0 || journalDue() || closed) {
        while (carried.size() < StoreLimits.JOURNAL_BATCH && !journal.isEmpty()) {
          carried.add(journal.remove());
        }
        carriedLatest.putAll(latest);
        latest.clear();
      }
      boolean last = closed && failures > 0 && batch.isEmpty();
      if (last) {
        dropped += (long) carried.size() + journal.size() + carriedLatest.size();
        carried.clear();
        carriedLatest.clear();
        journal.clear();
      }
      return !(closed && batch.isEmpty() && nothingCarried());
    } finally {
      lock.unlock();
    }
  }

  /** Lets rows gather while nobody waits for a commit. */
  private void linger() throws InterruptedException {
    long left = limits.journalLinger().toNanos();
    while (left > 0 && writes.isEmpty() && !closed && journal.size() < StoreLimits.JOURNAL_BATCH) {
      left = arrived.awaitNanos(left);
    }
  }

  private boolean journalDue() {
    return nanosUntilJournalDue() <= 0;
  }

  /** While writing fails, an attempt is due after each pause even where no row waits. */
  private long nanosUntilJournalDue() {
    if (failures > 0) {
      return retryAtNanos - System.nanoTime();
    }
    return journal.isEmpty() && latest.isEmpty() && nothingCarried() ? Long.MAX_VALUE : 0;
  }

  private boolean nothingCarried() {
    return carried.isEmpty() && carriedLatest.isEmpty();
  }

  private void attempt(List<Request<?>> batch) {
    boolean withJournal =
        failures == 0 || retryAtNanos - System.nanoTime() <= 0 || nothingCarried();
    try {
      Handle open = handle;
      if (open == null) {
        open = database.openWriter();
        handle = open;
      }
      open.begin();
      for (Request<?> request : batch) {
        runOne(open, request);
      }
      if (withJournal) {
        insertCarried(open);
      }
      if (failures > 0 || commits.get() == 0) {
        // Something must be written for a commit to prove anything.
        open.execute("PRAGMA user_version = " + Migrations.NEWEST);
      }
      open.commit();
    } catch (RuntimeException e) {
      failed(batch, e);
      return;
    }
    commits.incrementAndGet();
    if (withJournal) {
      carried.clear();
      carriedLatest.clear();
    }
    if (failures > 0) {
      LOG.log(Level.INFO, "The store writes again: {0}", database.file());
    }
    failures = 0;
    health = StoreHealth.Ok.OK;
    batch.forEach(Request::tell);
  }

  /** Runs one write in its savepoint. What the surroundings refuse ends the whole transaction. */
  private void runOne(Handle open, Request<?> request) {
    open.savepoint("one");
    try {
      request.run(open);
    } catch (RuntimeException e) {
      Fault fault = Fault.of(e, database.file());
      if (fault.surroundings()) {
        throw e;
      }
      LOG.log(Level.ERROR, "The store could not write " + request.what, e);
      request.own = fault;
      request.cause = e;
      // Rolled back, the savepoint is gone for JDBI, and ends for SQLite with the transaction.
      open.rollbackToSavepoint("one");
      return;
    }
    open.releaseSavepoint("one");
  }

  private void insertCarried(Handle open) {
    if (nothingCarried()) {
      return;
    }
    open.savepoint("journal");
    try {
      JournalTables.insert(open, carried, limits);
      carriedLatest.values().forEach(work -> work.accept(open));
    } catch (RuntimeException e) {
      if (Fault.of(e, database.file()).surroundings()) {
        throw e;
      }
      // A row that SQLite will never take must not hold up all that come after it.
      LOG.log(Level.ERROR, "The store dropped " + carried.size() + " rows of the journal", e);
      lock.lock();
      try {
        dropped += (long) carried.size() + carriedLatest.size();
      } finally {
        lock.unlock();
      }
      open.rollbackToSavepoint("journal");
      return;
    }
    open.releaseSavepoint("journal");
  }

  private void failed(List<Request<?>> batch, RuntimeException e) {
    Fault fault = Fault.of(e, database.file());
    Handle open = handle;
    handle = null;
    if (open != null) {
      closeQuietly(open);
    }
    failures++;
    long pause = limits.retryPauseFirst().toNanos() << Math.min(failures - 1, 20);
    retryAtNanos = System.nanoTime() + Math.min(pause, limits.retryPauseMax().toNanos());
    if (health instanceof StoreHealth.Failing before) {
      health = new StoreHealth.Failing(before.since(), fault.sentence());
    } else {
      LOG.log(Level.ERROR, "The store can't write, requests are served on: " + fault.sentence(), e);
      health = new StoreHealth.Failing(clock.instant(), fault.sentence());
    }
    for (Request<?> request : batch) {
      request.fail(fault, e);
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
    lock.lock();
    try {
      closed = true;
      arrived.signal();
    } finally {
      lock.unlock();
    }
    boolean interrupted = false;
    try {
      if (!thread.join(CLOSE_LIMIT)) {
        LOG.log(Level.WARNING, "The store did not finish writing within {0}", CLOSE_LIMIT);
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
