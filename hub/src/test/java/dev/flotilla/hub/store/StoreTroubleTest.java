package dev.flotilla.hub.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.store.EventTable.Filter;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The disk does not do what it should: serving goes on, and says so. */
class StoreTroubleTest {

  private static final Instant NOW = Instant.parse("2026-11-29T12:00:00Z");
  private static final StoreLimits IMPATIENT =
      StoreLimits.DEFAULT.with(
          new StoreLimits.Pauses(
              Duration.ofMillis(50),
              Duration.ofMillis(200),
              Duration.ofMillis(10),
              Duration.ofMillis(50)));

  @TempDir Path home;

  private Store open(StoreLimits limits) throws StoreFailed {
    return Store.open(home, limits, InstantSource.fixed(NOW));
  }

  static StoreLimits.Waiting waiting(int writes, int journal) {
    StoreLimits.Waiting usual = StoreLimits.DEFAULT.waiting();
    return new StoreLimits.Waiting(
        writes,
        journal,
        usual.readsWaiting(),
        usual.rowsAtOnce(),
        usual.writeWait(),
        usual.readWait());
  }

  private Path file() {
    return home.resolve("hub/hub.db");
  }

  private Connection otherProcess() throws Exception {
    return DriverManager.getConnection("jdbc:sqlite:" + file());
  }

  private static void awaitFailing(Store store, String what) {
    await()
        .untilAsserted(() ->
            assertThat(store.health())
                .isInstanceOfSatisfying(
                    StoreHealth.Failing.class,
                    failing -> {
                      assertThat(failing.since()).isEqualTo(NOW);
                      assertThat(failing.what()).contains(what);
                    }));
  }

  private static void awaitWell(Store store) {
    await().untilAsserted(() -> assertThat(store.health()).isEqualTo(StoreHealth.Ok.OK));
  }

  @Test
  void onAFullDiskEventsWaitAndAcknowledgedWritesFailWithASentence() throws Exception {
    try (Store store = open(IMPATIENT.with(IMPATIENT.kept().within(512 << 10)))) {
      store.revisions().add("ann", NOW, "models: {}");
      try (Connection other = otherProcess();
          Statement ballast = other.createStatement()) {
        // Another connection has no bound of its own, so its rows fill the file beyond ours.
        ballast.execute("CREATE TABLE ballast (x BLOB)");
        ballast.execute("INSERT INTO ballast VALUES (zeroblob(1048576))");

        String large = "# ".repeat(50_000);
        assertThatThrownBy(() -> store.revisions().add("ann", NOW, large))
            .isInstanceOf(StoreFailed.class)
            .hasMessage(
                "the revision was not stored: the disk or the database "
                    + file()
                    + " is full: free some space (SQLITE_FULL)");
        for (int i = 0; i < 200; i++) {
          store.event(Severity.INFO, "kind", "subject", "x".repeat(1_000));
        }
        awaitFailing(store, "is full");
        assertThat(store.revisions().newest(1).getFirst().yaml()).isEqualTo("models: {}");

        ballast.execute("DELETE FROM ballast");
      }
      awaitWell(store);
      store.flush();
      assertThat(store.events().newest(1_000, Filter.ALL)).hasSize(200);
      assertThat(store.journalDropped()).isZero();
      assertThat(store.revisions().add("ann", NOW, "models: {}")).isEqualTo(2);
    }
  }

  @Test
  void whileAnotherProcessHoldsTheDatabaseEachCallerGetsItsOwnError() throws Exception {
    try (Store store = open(IMPATIENT);
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      store.flush();
      try (Connection other = otherProcess();
          Statement statement = other.createStatement()) {
        statement.execute("BEGIN IMMEDIATE");
        List<Future<Long>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
          answers.add(callers.submit(() -> store.revisions().add("ann", NOW, "models: {}")));
        }
        List<Throwable> errors = new ArrayList<>();
        for (Future<Long> answer : answers) {
          assertThatThrownBy(answer::get)
              .isInstanceOf(ExecutionException.class)
              .hasRootCauseInstanceOf(org.sqlite.SQLiteException.class)
              .cause()
              .hasMessageContaining("another process holds the database")
              .satisfies(errors::add);
        }
        assertThat(errors).doesNotHaveDuplicates();
        awaitFailing(store, "another process holds");
        store.event(Severity.INFO, "kind", "subject", "it waits");
        statement.execute("ROLLBACK");
      }
      awaitWell(store);
      await().untilAsserted(() -> assertThat(store.events().newest(9, Filter.ALL)).hasSize(1));
    }
  }

  @Test
  void whatDoesNotFitWhileTheDiskFailsIsCounted() throws Exception {
    try (Store store = open(IMPATIENT.with(waiting(16, 10)))) {
      store.flush();
      try (Connection other = otherProcess();
          Statement statement = other.createStatement()) {
        statement.execute("BEGIN IMMEDIATE");
        store.event(Severity.INFO, "kind", "subject", "first");
        awaitFailing(store, "another process holds");
        for (int i = 0; i < 5_000; i++) {
          store.event(Severity.INFO, "kind", "subject", "message " + i);
        }
        assertThat(store.journalDropped()).isGreaterThan(1_000);
        statement.execute("ROLLBACK");
      }
      awaitWell(store);
    }
  }

  @Test
  void aDatabaseThatIsDamagedWhileItRunsIsSaid() throws Exception {
    try (Store store = open(IMPATIENT)) {
      store.revisions().add("ann", NOW, "models: {}");
      try (Connection other = otherProcess();
          Statement statement = other.createStatement()) {
        statement.execute("PRAGMA wal_checkpoint(TRUNCATE)");
      }
      try (RandomAccessFile raw = new RandomAccessFile(file().toFile(), "rw")) {
        raw.write("x".repeat(40_000).getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      }
      assertThatThrownBy(
              () -> {
                // The writer may have pages in memory that hide the damage for one write.
                for (int i = 0; i < 50; i++) {
                  store.revisions().add("ann", NOW, "models: {}");
                  store.revisions().newest(1);
                }
              })
          .isInstanceOf(StoreFailed.class)
          .hasMessageContaining("is damaged: stop the hub");
      awaitFailing(store, "is damaged");
    }
  }

  @Test
  void aDatabaseThatIsHeldAtTheStartIsRefusedWithTheReason() throws Exception {
    open(IMPATIENT).close();
    try (Connection other = otherProcess();
        Statement statement = other.createStatement()) {
      statement.execute("PRAGMA locking_mode = EXCLUSIVE");
      statement.execute("BEGIN EXCLUSIVE");
      assertThatThrownBy(() -> open(IMPATIENT).close())
          .isInstanceOf(StoreFailed.class)
          .hasMessageContaining("another process holds the database " + file());
    }
  }
}
