package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.mapper.RowMapper;

/** The workers' lives. Rows get here through {@link Store#workerChanged}. */
public final class WorkerHistoryTable {

  private static final RowMapper<WorkerChange> ROW =
      (row, context) ->
          new WorkerChange(
              Instant.ofEpochMilli(row.getLong("at")),
              row.getString("worker"),
              row.getString("node"),
              row.getString("model"),
              row.getLong("generation"),
              row.getString("state"),
              row.getString("reason"),
              row.getString("started_with"));

  private final Store store;

  WorkerHistoryTable(Store store) {
    this.store = store;
  }

  /** The newest changes of one worker, newest first. */
  public List<WorkerChange> of(String worker, int limit) throws StoreFailed {
    return store.read(
        "the history of " + worker,
        handle ->
            handle
                .createQuery(
                    "SELECT * FROM worker_history WHERE worker = ? ORDER BY id DESC LIMIT ?")
                .bind(0, worker)
                .bind(1, store.rows(limit))
                .map(ROW)
                .list());
  }
}
