package dev.flotilla.hub.store;

import java.nio.file.Path;
import java.util.List;
import org.jdbi.v3.core.Handle;

/**
 * The schema, as numbered steps. Step N takes a database of schema N-1 to N; a step that was ever
 * released is never edited. The number stands in SQLite's {@code user_version}, and {@code
 * application_id} says that the file is ours.
 */
final class Migrations {

  /** "FLOT". */
  private static final int APPLICATION_ID = 0x464C4F54;

  private static final List<String> STEPS =
      List.of(
          """
          CREATE TABLE revisions (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            author TEXT NOT NULL,
            yaml TEXT NOT NULL);
          CREATE TABLE nodes (
            name TEXT PRIMARY KEY,
            agent_id TEXT NOT NULL,
            credential_hash TEXT,
            enrolled_at INTEGER NOT NULL,
            generation INTEGER NOT NULL DEFAULT 0,
            agent_version TEXT NOT NULL DEFAULT '',
            facts TEXT,
            drained_by TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
          CREATE TABLE assignments (
            worker TEXT PRIMARY KEY,
            node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
            spec TEXT NOT NULL,
            generation INTEGER NOT NULL,
            drained_by TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
          CREATE INDEX assignments_node ON assignments (node);
          CREATE TABLE enrolment_tokens (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            hash TEXT NOT NULL UNIQUE,
            note TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            uses_left INTEGER);
          CREATE TABLE client_keys (
            name TEXT PRIMARY KEY,
            hash TEXT NOT NULL UNIQUE,
            role TEXT NOT NULL,
            created_at INTEGER NOT NULL) WITHOUT ROWID;
          CREATE TABLE worker_history (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            worker TEXT NOT NULL,
            node TEXT NOT NULL,
            model TEXT NOT NULL,
            generation INTEGER NOT NULL,
            state TEXT NOT NULL,
            reason TEXT NOT NULL,
            started_with TEXT NOT NULL);
          CREATE INDEX worker_history_worker ON worker_history (worker, id);
          CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            severity TEXT NOT NULL,
            kind TEXT NOT NULL,
            subject TEXT NOT NULL,
            message TEXT NOT NULL);
          CREATE INDEX events_subject ON events (subject, id);
          CREATE TABLE usage (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            request_id TEXT NOT NULL,
            client_key TEXT NOT NULL,
            model TEXT NOT NULL,
            target TEXT NOT NULL,
            path TEXT NOT NULL,
            streamed INTEGER NOT NULL,
            status INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            attempts INTEGER NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            queue_micros INTEGER NOT NULL,
            first_byte_micros INTEGER NOT NULL,
            total_micros INTEGER NOT NULL);
          CREATE INDEX usage_at ON usage (at);
          """,
          """
          CREATE TABLE reports (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            author TEXT NOT NULL,
            kind TEXT NOT NULL,
            title TEXT NOT NULL,
            model TEXT NOT NULL,
            figures TEXT NOT NULL,
            bytes INTEGER NOT NULL,
            summary TEXT NOT NULL,
            html BLOB NOT NULL);
          """,
          """
          CREATE TABLE proofs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            at INTEGER NOT NULL,
            worker TEXT NOT NULL,
            model TEXT NOT NULL,
            passed INTEGER NOT NULL,
            document TEXT NOT NULL);
          CREATE TABLE model_references (
            model TEXT PRIMARY KEY,
            at INTEGER NOT NULL,
            worker TEXT NOT NULL,
            document TEXT NOT NULL) WITHOUT ROWID;
          """);

  /** The newest schema that this program knows. */
  static final int NEWEST = STEPS.size();

  private Migrations() {}

  /**
   * Brings the database to {@link #NEWEST}, each step in a transaction of its own.
   *
   * @throws StoreFailed where the file is not ours, or is newer than this program
   */
  static void run(Handle handle, Path file) throws StoreFailed {
    int version = pragma(handle, "user_version");
    int application = pragma(handle, "application_id");
    int tables =
        handle.createQuery("SELECT count(*) FROM sqlite_master").mapTo(Integer.class).one();
    if (application != APPLICATION_ID && (application != 0 || version != 0 || tables != 0)) {
      throw new StoreFailed(
          file + " is a database of another program: move it away, or use another --home", null);
    }
    if (version > NEWEST) {
      throw new StoreFailed(
          "%s was written by a newer Flotilla (its schema is %d, this program knows up to %d): start the newer program, or use another --home"
              .formatted(file, version, NEWEST),
          null);
    }
    for (int next = version + 1; next <= NEWEST; next++) {
      handle.begin();
      for (String statement : STEPS.get(next - 1).split(";\\s*\n", -1)) {
        if (!statement.isBlank()) {
          handle.execute(statement);
        }
      }
      handle.execute("PRAGMA application_id = " + APPLICATION_ID);
      handle.execute("PRAGMA user_version = " + next);
      handle.commit();
    }
  }

  private static int pragma(Handle handle, String name) {
    return handle.createQuery("PRAGMA " + name).mapTo(Integer.class).one();
  }
}
