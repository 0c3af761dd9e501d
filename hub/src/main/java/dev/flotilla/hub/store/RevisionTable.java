package dev.flotilla.hub.store;

import java.time.Instant;
import java.util.List;
import org.jdbi.v3.core.mapper.RowMapper;

/** The configuration's revisions, newest last. A stored one is never changed. */
public final class RevisionTable {

  /**
   * A stored {@code fleet.yaml}.
   *
   * @param number grows by one with each revision
   * @param by who applied it
   * @param yaml the file as it was given
   */
  public record Revision(long number, Instant at, String by, String yaml) {}

  private static final RowMapper<Revision> ROW =
      (row, context) ->
          new Revision(
              row.getLong("number"),
              Instant.ofEpochMilli(row.getLong("at")),
              row.getString("author"),
              row.getString("yaml"));

  private final Store store;

  RevisionTable(Store store) {
    this.store = store;
  }

  /** Stores a revision and returns its number after the commit. */
  public long add(String by, Instant at, String yaml) throws StoreFailed {
    return store.write(
        "the revision",
        handle -> {
          long number =
              handle
                  .createQuery(
                      "INSERT INTO revisions (at, author, yaml) VALUES (?, ?, ?) RETURNING number")
                  .bind(0, at.toEpochMilli())
                  .bind(1, by)
                  .bind(2, yaml)
                  .mapTo(Long.class)
                  .one();
          handle.execute(
              "DELETE FROM revisions WHERE number <= ?",
              number - store.limits().kept().revisions());
          return number;
        });
  }

  /** Forgets a revision. */
  public void remove(long number) throws StoreFailed {
    store.write(
        "the revision's removal",
        handle -> handle.execute("DELETE FROM revisions WHERE number = ?", number));
  }

  /** The newest revisions, newest first. */
  public List<Revision> newest(int limit) throws StoreFailed {
    return store.read(
        "the revisions",
        handle ->
            handle
                .createQuery("SELECT * FROM revisions ORDER BY number DESC LIMIT ?")
                .bind(0, store.rows(limit))
                .map(ROW)
                .list());
  }
}
