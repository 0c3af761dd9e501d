package dev.flotilla.hub.store;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** How rows of the journal get into their tables, and the oldest out of them. */
final class JournalTables {

  private JournalTables() {}

  static void insert(Handle handle, List<JournalRow> rows, StoreLimits limits) {
    List<Event> events = pick(rows, Event.class);
    List<Usage> usage = pick(rows, Usage.class);
    List<WorkerChange> changes = pick(rows, WorkerChange.class);
    if (!events.isEmpty()) {
      insertEvents(handle, events);
      prune(handle, "events", limits.kept().events(), events.size());
    }
    if (!usage.isEmpty()) {
      insertUsage(handle, usage);
      prune(handle, "usage", limits.kept().usage(), usage.size());
    }
    if (!changes.isEmpty()) {
      insertChanges(handle, changes);
      prune(handle, "worker_history", limits.kept().workerHistory(), changes.size());
    }
  }

  private static <T extends JournalRow> List<T> pick(List<JournalRow> rows, Class<T> kind) {
    return rows.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  private static void insertEvents(Handle handle, List<Event> events) {
    insert(
        handle,
        "INSERT INTO events (at, severity, kind, subject, message) VALUES (?, ?, ?, ?, ?)",
        events,
        (to, event) -> {
          to.setLong(1, event.at().toEpochMilli());
          to.setString(2, event.severity().name());
          to.setString(3, event.kind());
          to.setString(4, event.subject());
          to.setString(5, event.message());
        });
  }

  private static void insertUsage(Handle handle, List<Usage> usage) {
    insert(
        handle,
        "INSERT INTO usage (at, request_id, client_key, model, target, path, streamed, status,"
            + " outcome, attempts, prompt_tokens, completion_tokens, queue_micros,"
            + " first_byte_micros, total_micros) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        usage,
        (to, one) -> {
          to.setLong(1, one.at().toEpochMilli());
          to.setString(2, one.requestId());
          to.setString(3, one.key());
          to.setString(4, one.model());
          to.setString(5, one.target());
          to.setString(6, one.path());
          to.setBoolean(7, one.streamed());
          to.setInt(8, one.status());
          to.setString(9, one.outcome());
          to.setInt(10, one.attempts());
          to.setInt(11, one.promptTokens());
          to.setInt(12, one.completionTokens());
          to.setLong(13, one.queueMicros());
          to.setLong(14, one.firstByteMicros());
          to.setLong(15, one.totalMicros());
        });
  }

  private static void insertChanges(Handle handle, List<WorkerChange> changes) {
    insert(
        handle,
        "INSERT INTO worker_history (at, worker, node, model, generation, state, reason,"
            + " started_with) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        changes,
        (to, change) -> {
          to.setLong(1, change.at().toEpochMilli());
          to.setString(2, change.worker());
          to.setString(3, change.node());
          to.setString(4, change.model());
          to.setLong(5, change.generation());
          to.setString(6, change.state());
          to.setString(7, change.reason());
          to.setString(8, change.startedWith());
        });
  }

  /** Sets the values of one row. */
  private interface Binding<T> {
    void bind(PreparedStatement to, T row) throws SQLException;
  }

  /** One batch of plain JDBC: under load a row is written per request, and JDBI's bindings cost. */
  private static <T> void insert(Handle handle, String sql, List<T> rows, Binding<T> binding) {
    try (PreparedStatement statement = handle.getConnection().prepareStatement(sql)) {
      for (T row : rows) {
        binding.bind(statement, row);
        statement.addBatch();
      }
      statement.executeBatch();
    } catch (SQLException e) {
      throw new IllegalStateException("rows of the journal were refused", e);
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
