package dev.flotilla.hub.store;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;

/**
 * What waits for the writer: requests that somebody waits for, rows of the journal, and the newest
 * state of each node. All three are bounded by {@link StoreLimits}. Any thread puts in, under a
 * lock that is never held over anything slow; the writing thread alone takes out.
 */
final class Backlog {

  /** What the writer takes at once. Rows stay in it until they are stored. */
  static final class Batch {
    final List<WriteRequest<?>> writes = new ArrayList<>();
    final List<JournalRow> rows = new ArrayList<>();
    final Map<String, Consumer<Handle>> latest = new LinkedHashMap<>();

    boolean hasRows() {
      return !rows.isEmpty() || !latest.isEmpty();
    }

    int rowCount() {
      return rows.size() + latest.size();
    }

    void clearRows() {
      rows.clear();
      latest.clear();
    }
  }

  private final StoreLimits limits;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  // Guarded by lock.
  private final ArrayDeque<WriteRequest<?>> writes = new ArrayDeque<>();
  private final ArrayDeque<JournalRow> journal = new ArrayDeque<>();
  private final Map<String, Consumer<Handle>> latest = new LinkedHashMap<>();
  private boolean closed;
  private long dropped;

  Backlog(StoreLimits limits) {
    this.limits = limits;
  }

  /** Puts a row in; where there is no room or the store is closed it is dropped and counted. */
  void offer(JournalRow row) {
    lock.lock();
    try {
      if (closed || journal.size() >= limits.waiting().journalWaiting()) {
        dropped++;
        return;
      }
      journal.add(row);
      // The first row starts the linger, a full batch ends it; the rows between wake nobody.
      if (journal.size() == 1 || journal.size() == StoreLimits.JOURNAL_BATCH) {
        arrived.signal();
      }
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

  void add(WriteRequest<?> request) throws StoreFailed {
    lock.lock();
    try {
      if (closed) {
        throw new StoreFailed(request.what() + " was not stored: the hub is stopping", null);
      }
      if (writes.size() >= limits.waiting().writesWaiting()) {
        throw new StoreFailed(
            "%s was not stored: %d writes wait already (the limit); try again in a moment"
                .formatted(request.what(), writes.size()),
            null);
      }
      writes.add(request);
      arrived.signal();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for work and moves it into {@code batch}, beside what is still in it.
   *
   * @param failing whether writing fails: then rows wait until {@code retryAtNanos}, when an
   *     attempt is due even where no row waits; a request is taken at once
   * @return false where the store is closed and nothing is left to do
   */
  boolean take(Batch batch, boolean failing, long retryAtNanos) throws InterruptedException {
    lock.lock();
    try {
      while (!closed && writes.isEmpty() && nanosUntilDue(batch, failing, retryAtNanos) > 0) {
        long pause = nanosUntilDue(batch, failing, retryAtNanos);
        if (pause == Long.MAX_VALUE) {
          arrived.await();
        } else {
          arrived.awaitNanos(pause);
        }
      }
      if (!failing) {
        linger();
      }
      while (batch.writes.size() < StoreLimits.WRITE_BATCH && !writes.isEmpty()) {
        WriteRequest<?> request = writes.remove();
        if (request.claim()) {
          batch.writes.add(request);
        }
      }
      while (batch.rows.size() < StoreLimits.JOURNAL_BATCH && !journal.isEmpty()) {
        batch.rows.add(journal.remove());
      }
      batch.latest.putAll(latest);
      latest.clear();
      if (closed && failing && batch.writes.isEmpty()) {
        // The last attempt was made and the disk still refuses.
        dropped += batch.rowCount() + (long) journal.size();
        journal.clear();
        batch.clearRows();
      }
      return !closed || !batch.writes.isEmpty() || batch.hasRows();
    } finally {
      lock.unlock();
    }
  }

  /** Lets rows gather while nobody waits for a commit. */
  private void linger() throws InterruptedException {
    long left = limits.pauses().journalLinger().toNanos();
    while (left > 0 && writes.isEmpty() && !closed && journal.size() < StoreLimits.JOURNAL_BATCH) {
      left = arrived.awaitNanos(left);
    }
  }

  private long nanosUntilDue(Batch batch, boolean failing, long retryAtNanos) {
    if (failing) {
      return retryAtNanos - System.nanoTime();
    }
    return journal.isEmpty() && latest.isEmpty() && !batch.hasRows() ? Long.MAX_VALUE : 0;
  }

  /** Nothing more is taken in; what is in it is still taken out. */
  void close() {
    lock.lock();
    try {
      closed = true;
      arrived.signal();
    } finally {
      lock.unlock();
    }
  }

  void countDropped(int rows) {
    lock.lock();
    try {
      dropped += rows;
    } finally {
      lock.unlock();
    }
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
}
