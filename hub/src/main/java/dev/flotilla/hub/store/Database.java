package dev.flotilla.hub.store;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.StatementExceptions;
import org.sqlite.SQLiteConfig;
import org.sqlite.SQLiteConfig.JournalMode;
import org.sqlite.SQLiteConfig.SynchronousMode;
import org.sqlite.SQLiteConfig.TransactionMode;

/** Opens connections to the one database file, set as its reader or its writer needs them. */
final class Database {

  /** SQLite's page; the default since 3.12. */
  private static final int PAGE_BYTES = 4096;

  /** What the log keeps on disk after a checkpoint, so that one busy hour is not kept for ever. */
  private static final int WAL_BYTES_KEPT = 16 << 20;

  private final Path file;
  private final Jdbi writing;
  private final Jdbi reading;

  Database(Path file, StoreLimits limits) {
    this.file = file;
    this.writing = jdbi(writerConfig(limits));
    this.reading = jdbi(readerConfig(limits));
  }

  Path file() {
    return file;
  }

  Handle openWriter() {
    return writing.open();
  }

  Handle openReader() {
    return reading.open();
  }

  private Jdbi jdbi(SQLiteConfig config) {
    Jdbi jdbi = Jdbi.create(() -> connect(config));
    // Messages of exceptions get into the log, and the values of a statement do not belong there.
    jdbi.getConfig(StatementExceptions.class)
        .setMessageRendering(StatementExceptions.MessageRendering.NONE);
    return jdbi;
  }

  private Connection connect(SQLiteConfig config) throws SQLException {
    return config.createConnection("jdbc:sqlite:" + file);
  }

  private static SQLiteConfig writerConfig(StoreLimits limits) {
    SQLiteConfig config = new SQLiteConfig();
    config.setBusyTimeout((int) limits.pauses().busyTimeout().toMillis());
    config.setJournalMode(JournalMode.WAL);
    // FULL makes each commit wait for the disk: what is acknowledged outlives a loss of power.
    config.setSynchronous(SynchronousMode.FULL);
    config.setTransactionMode(TransactionMode.IMMEDIATE);
    config.enforceForeignKeys(true);
    config.setJournalSizeLimit(WAL_BYTES_KEPT);
    config.setMaxPageCount(
        (int) Math.min(limits.kept().databaseBytes() / PAGE_BYTES, Integer.MAX_VALUE));
    return config;
  }

  private static SQLiteConfig readerConfig(StoreLimits limits) {
    SQLiteConfig config = new SQLiteConfig();
    config.setReadOnly(true);
    config.setBusyTimeout((int) limits.pauses().busyTimeout().toMillis());
    return config;
  }
}
