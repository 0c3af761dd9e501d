package dev.flotilla.hub.store;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.jdbi.v3.core.Handle;

/** How rows of the journal get into their tables, and the oldest out of them. */
final class JournalTables {
  private static final int ROWS_AT_ONCE = 8;

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
        "INSERT INTO events (at, severity, kind, subject, message)",
        5,
        events,
        (to, at, event) -> {
          to.setLong(at + 1, event.at().toEpochMilli());
          to.setString(at + 2, event.severity().name());
          to.setString(at + 3, event.kind());
          to.setString(at + 4, event.subject());
          to.setString(at + 5, event.message());
        });
  }

  private static void insertUsage(Handle handle, List<Usage> usage) {
    insert(
        handle,
        "INSERT INTO usage (at, request_id, client_key, model, target, path, streamed, status,"
            + " outcome, attempts, prompt_tokens, completion_tokens, queue_micros,"
            + " first_byte_micros, total_micros)",
        15,
        usage,
        (to, at, one) -> {
          to.setLong(at + 1, one.at().toEpochMilli());
          to.setString(at + 2, one.requestId());
          to.setString(at + 3, one.key());
          to.setString(at + 4, one.model());
          to.setString(at + 5, one.target());
          to.setString(at + 6, one.path());
          to.setBoolean(at + 7, one.streamed());
          to.setInt(at + 8, one.status());
          to.setString(at + 9, one.outcome());
          to.setInt(at + 10, one.attempts());
          to.setInt(at + 11, one.promptTokens());
          to.setInt(at + 12, one.completionTokens());
          to.setLong(at + 13, one.queueMicros());
          to.setLong(at + 14, one.firstByteMicros());
          to.setLong(at + 15, one.totalMicros());
        });
  }

  private static void insertChanges(Handle handle, List<WorkerChange> changes) {
    insert(
        handle,
        "INSERT INTO worker_history (at, worker, node, model, generation, state, reason,"
            + " started_with)",
        8,
        changes,
        (to, at, change) -> {
          to.setLong(at + 1, change.at().toEpochMilli());
          to.setString(at + 2, change.worker());
          to.setString(at + 3, change.node());
          to.setString(at + 4, change.model());
          to.setLong(at + 5, change.generation());
          to.setString(at + 6, change.state());
          to.setString(at + 7, change.reason());
          to.setString(at + 8, change.startedWith());
        });
  }

  /** Sets the values of one row. */
  private interface Binding<T> {
    /**
     * @param at how many values stand before the row's own
     */
    void bind(PreparedStatement to, int at, T row) throws SQLException;
  }

  /**
   * Plain JDBC, {@value #ROWS_AT_ONCE} rows in one statement as long as there are so many: under
   * load a row is written per request. JDBI's bindings cost, and with each statement SQLite looks
   * up and writes which row number it gave last.
   */
  private static <T> void insert(
      Handle handle, String into, int columns, List<T> rows, Binding<T> binding) {
    int together = rows.size() - rows.size() % ROWS_AT_ONCE;
    try {
      insert(handle, into, columns, rows.subList(0, together), ROWS_AT_ONCE, binding);
      insert(handle, into, columns, rows.subList(together, rows.size()), 1, binding);
    } catch (SQLException e) {
      throw new IllegalStateException("rows of the journal were refused", e);
    }
  }

  private static <T> void insert(
      Handle handle, String into, int columns, List<T> rows, int atOnce, Binding<T> binding)
      throws SQLException {
    if (rows.isEmpty()) {
      return;
    }
    String row = "(?" + ", ?".repeat(columns - 1) + ")";
    String sql = into + " VALUES " + row + (", " + row).repeat(atOnce - 1);
    try (PreparedStatement statement = handle.getConnection().prepareStatement(sql)) {
      for (int from = 0; from < rows.size(); from += atOnce) {
        for (int i = 0; i < atOnce; i++) {
          binding.bind(statement, i * columns, rows.get(from + i));
        }
        statement.addBatch();
      }
      statement.executeBatch();
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
