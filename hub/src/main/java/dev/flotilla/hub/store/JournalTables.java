package dev.flotilla.hub.store;

import java.util.List;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.statement.PreparedBatch;

/** How rows of the journal get into their tables, and the oldest out of them. */
final class JournalTables {

  private JournalTables() {}

  static void insert(Handle handle, List<JournalRow> rows, StoreLimits limits) {
    List<Event> events = pick(rows, Event.class);
    List<Usage> usage = pick(rows, Usage.class);
    List<WorkerChange> changes = pick(rows, WorkerChange.class);
    if (!events.isEmpty()) {
      insertEvents(handle, events);
      prune(handle, "events", limits.events(), events.size());
    }
    if (!usage.isEmpty()) {
      insertUsage(handle, usage);
      prune(handle, "usage", limits.usage(), usage.size());
    }
    if (!changes.isEmpty()) {
      insertChanges(handle, changes);
      prune(handle, "worker_history", limits.workerHistory(), changes.size());
    }
  }

  private static <T extends JournalRow> List<T> pick(List<JournalRow> rows, Class<T> kind) {
    return rows.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  private static void insertEvents(Handle handle, List<Event> events) {
    try (PreparedBatch batch =
        handle.prepareBatch(
            "INSERT INTO events (at, severity, kind, subject, message) VALUES (?, ?, ?, ?, ?)")) {
      for (Event event : events) {
        batch.add(
            event.at().toEpochMilli(),
            event.severity().name(),
            event.kind(),
            event.subject(),
            event.message());
      }
      batch.execute();
    }
  }

  private static void insertUsage(Handle handle, List<Usage> usage) {
    try (PreparedBatch batch =
        handle.prepareBatch(
            "INSERT INTO usage (at, request_id, client_key, model, target, path, streamed, status,"
                + " outcome, attempts, prompt_tokens, completion_tokens, queue_micros,"
                + " first_byte_micros, total_micros) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
      for (Usage one : usage) {
        batch.add(
            one.at().toEpochMilli(),
            one.requestId(),
            one.key(),
            one.model(),
            one.target(),
            one.path(),
            one.streamed(),
            one.status(),
            one.outcome(),
            one.attempts(),
            one.promptTokens(),
            one.completionTokens(),
            one.queueMicros(),
            one.firstByteMicros(),
            one.totalMicros());
      }
      batch.execute();
    }
  }

  private static void insertChanges(Handle handle, List<WorkerChange> changes) {
    try (PreparedBatch batch =
        handle.prepareBatch(
            "INSERT INTO worker_history (at, worker, node, model, generation, state, reason,"
                + " started_with) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")) {
      for (WorkerChange change : changes) {
        batch.add(
            change.at().toEpochMilli(),
            change.worker(),
            change.node(),
            change.model(),
            change.generation(),
            change.state(),
            change.reason(),
            change.startedWith());
      }
      batch.execute();
    }
  }

  /**
   * Deletes what is older than the newest {@code keep} rows, a bounded number at a time: somewhat
   * more than was inserted, so that a lowered limit is reached step by step. Row numbers only grow,
   * so the oldest are found without counting.
   */
  private static void prune(Handle handle, String table, long keep, int inserted) {
    handle.execute(
        "DELETE FROM %1$s WHERE id <= (SELECT max(id) FROM %1$s) - ? AND id < (SELECT min(id) FROM %1$s) + ?"
            .formatted(table),
        keep,
        inserted + StoreLimits.PRUNE_BATCH);
  }
}
