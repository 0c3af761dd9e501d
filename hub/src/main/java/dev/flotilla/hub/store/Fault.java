package dev.flotilla.hub.store;

import java.nio.file.Path;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/**
 * What stopped SQLite, in words, and whether it is the surroundings (disk, permissions, another
 * process), so that trying again later can help, or the statement itself.
 */
record Fault(boolean surroundings, String sentence) {

  static Fault of(Throwable thrown, Path file) {
    for (Throwable t = thrown; t != null; t = t.getCause()) {
      if (t instanceof SQLiteException sqlite) {
        return of(sqlite.getResultCode(), file);
      }
    }
    return new Fault(
        false,
        "the store met an error of its own ("
            + thrown.getClass().getSimpleName()
            + "): the hub's log has it whole");
  }

  private static Fault of(SQLiteErrorCode code, Path file) {
    // Extended result codes carry the primary one in their lowest byte (sqlite.org/rescode.html).
    SQLiteErrorCode primary = SQLiteErrorCode.getErrorCode(code.code & 0xFF);
    String because =
        switch (primary) {
          case SQLITE_FULL -> "the disk or the database %s is full: free some space";
          case SQLITE_READONLY, SQLITE_PERM ->
              "the database %s can't be written: give the hub's user write access to the file and its folder";
          case SQLITE_CORRUPT, SQLITE_NOTADB ->
              "the database %s is damaged: stop the hub, put a copy back or move the file away, and start again";
          case SQLITE_BUSY, SQLITE_LOCKED ->
              "another process holds the database %s: end whatever has it open";
          case SQLITE_CANTOPEN -> "the database %s can't be opened: check its folder and its owner";
          case SQLITE_IOERR, SQLITE_PROTOCOL, SQLITE_NOLFS ->
              "the disk under the database %s fails or is full: check it and free some space";
          case SQLITE_NOMEM -> "there is no memory for the database %s: give the hub more";
          default -> "";
        };
    if (because.isEmpty()) {
      return new Fault(
          false, "SQLite refused the statement (" + code.name() + "): the hub's log has it whole");
    }
    return new Fault(true, because.formatted(file) + " (" + code.name() + ")");
  }
}
