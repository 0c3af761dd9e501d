package dev.flotilla.hub.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.hub.store.ClientKeyTable.StoredKey;
import dev.flotilla.hub.store.EventTable.Filter;
import dev.flotilla.hub.store.FleetMemory.RememberedNode;
import dev.flotilla.hub.store.FleetMemory.RememberedWorker;
import dev.flotilla.hub.store.UsageTable.By;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StoreTest {

  private static final Instant NOW = Instant.parse("2026-11-29T12:00:00Z");

  @TempDir Path home;

  private Store open() throws StoreFailed {
    return open(StoreLimits.DEFAULT);
  }

  private Store open(StoreLimits limits) throws StoreFailed {
    return Store.open(home, limits, InstantSource.fixed(NOW));
  }

  private Path file() {
    return home.resolve("hub/hub.db");
  }

  private static Usage usage(String model, String outcome, int promptTokens, long firstByte) {
    return new Usage(
        NOW,
        "r-1",
        "laptop",
        model,
        "mac/" + model + "-1",
        "/v1/chat/completions",
        true,
        200,
        outcome,
        1,
        promptTokens,
        7,
        10,
        firstByte,
        2_000);
  }

  @Test
  void revisionsOutliveARestartAndAreNumbered() throws Exception {
    try (Store store = open()) {
      assertThat(store.revisions().newest(1)).isEmpty();
      assertThat(store.revisions().add("ann", NOW, "models: {}")).isEqualTo(1);
      assertThat(store.revisions().add("bob", NOW, "models: { a: }")).isEqualTo(2);
    }
    try (Store store = open()) {
      assertThat(store.revisions().newest(1).getFirst())
          .isEqualTo(new RevisionTable.Revision(2, NOW, "bob", "models: { a: }"));
      assertThat(store.revisions().newest(10))
          .extracting(RevisionTable.Revision::by)
          .containsExactly("bob", "ann");
    }
  }

  @Test
  void eventsAreFoundByPlaceSubjectKindAndSeverity() throws Exception {
    try (Store store = open()) {
      store.event(Severity.INFO, "worker-ready", "mac/m-1", "it serves");
      store.event(Severity.ERROR, "worker-died", "mac/m-1", "exit code 9");
      store.event(Severity.WARNING, "node-lost", "mac", "silent for 15 s");
      store.flush();

      EventTable events = store.events();
      assertThat(events.newest(2, Filter.ALL))
          .extracting(Event::kind)
          .containsExactly("node-lost", "worker-died");
      long first = events.newest(9, Filter.ALL).getLast().id();
      assertThat(events.after(first, 9, Filter.ALL))
          .extracting(Event::kind)
          .containsExactly("worker-died", "node-lost");
      assertThat(events.newest(9, Filter.of("mac/m-1"))).hasSize(2);
      Filter serious = new Filter(Optional.of("mac/m-1"), Optional.empty(), Severity.WARNING);
      assertThat(events.newest(9, serious))
          .containsExactly(
              new Event(first + 1, NOW, Severity.ERROR, "worker-died", "mac/m-1", "exit code 9"));
      Filter kind = new Filter(Optional.empty(), Optional.of("node-lost"), Severity.INFO);
      assertThat(events.newest(9, kind)).extracting(Event::subject).containsExactly("mac");
    }
  }

  @Test
  void usageIsSummedByModelWorkerAndKey() throws Exception {
    try (Store store = open()) {
      store.usage(usage("a", "ok", 10, 100));
      store.usage(usage("a", "failed", -1, -1));
      store.usage(usage("b", "ok", 5, 300));
      store.flush();

      UsageTable log = store.usageLog();
      Duration day = Duration.ofHours(24);
      assertThat(log.summary(By.MODEL, "a", day))
          .isEqualTo(new UsageTable.Summary("a", 24, 2, 1, 1, 10, 14, 0.1, 2));
      assertThat(log.summary(By.KEY, "laptop", day))
          .isEqualTo(new UsageTable.Summary("laptop", 24, 3, 2, 1, 15, 21, 0.1, 2));
      assertThat(log.summary(By.TARGET, "mac/b-1", day).requests()).isEqualTo(1);
      assertThat(log.summary(By.MODEL, "c", day))
          .isEqualTo(new UsageTable.Summary("c", 24, 0, 0, 0, 0, 0, 0, 0));
      assertThat(log.newest(1)).containsExactly(usage("b", "ok", 5, 300));
    }
  }

  @Test
  void aWorkersHistoryIsKept() throws Exception {
    WorkerChange started =
        new WorkerChange(NOW, "mac/m-1", "mac", "m", 4, "SERVING", "", "llama-server -m x");
    try (Store store = open()) {
      store.workerChanged(started);
      store.workerChanged(
          new WorkerChange(NOW, "mac/m-2", "mac", "m", 5, "REFUSED", "no memory", ""));
    }
    // Closing wrote what waited.
    try (Store store = open()) {
      assertThat(store.workerHistory().of("mac/m-1", 10)).containsExactly(started);
    }
  }

  @Test
  void whatTheFleetRemembersComesBackWhole() throws Exception {
    NodeFacts facts =
        new NodeFacts(
            "studio",
            "macos",
            "26",
            "aarch64",
            false,
            "M5",
            10,
            10,
            64L << 30,
            40L << 30,
            0.5,
            List.of(new NodeFacts.Accelerator("apple", "M5", 0, -1)),
            List.of());
    WorkerSpec spec =
        new WorkerSpec(
            "mac/m-1",
            "m",
            "llama-server",
            "/m.gguf",
            4096,
            4,
            WorkerSpec.Reasoning.OFF,
            true,
            false,
            Map.of("threads", "6"));
    RememberedNode node =
        new RememberedNode(
            "mac",
            "agent-1",
            3,
            "0.1.0",
            Optional.of(facts),
            "ann",
            List.of(new RememberedWorker(spec, 7, "bob")));
    try (Store store = open()) {
      FleetMemory memory = store.fleetMemory();
      memory.save(new RememberedNode("mac", "agent-1", 2, "0", Optional.empty(), "", List.of()));
      memory.save(node);
    }
    try (Store store = open()) {
      FleetMemory memory = store.fleetMemory();
      assertThat(memory.nodes()).containsExactly(node);
      // Facts that are not known at the moment do not wipe out those that were.
      memory.save(
          new RememberedNode("mac", "agent-1", 4, "0.1.0", Optional.empty(), "", List.of()));
      // Another agent's late word does not get into the name's row.
      store.flush();
      memory.save(new RememberedNode("mac", "agent-9", 9, "9", Optional.empty(), "", List.of()));
      store.flush();
      assertThat(memory.nodes())
          .containsExactly(
              new RememberedNode("mac", "agent-1", 4, "0.1.0", Optional.of(facts), "", List.of()));
    }
  }

  @Test
  void manyCallersShareACommit() throws Exception {
    try (Store store = open();
        ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      Future<Boolean> first = callers.submit(() -> holdsTheWriter(store, held, release));
      held.await();
      long before = store.commits();
      List<Future<Long>> numbers = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        numbers.add(callers.submit(() -> store.revisions().add("ann", NOW, "models: {}")));
      }
      while (store.writesWaiting() < 100) {
        Thread.onSpinWait();
      }
      release.countDown();
      assertThat(first.get()).isTrue();
      List<Long> given = new ArrayList<>();
      for (Future<Long> number : numbers) {
        given.add(number.get());
      }
      assertThat(given).doesNotHaveDuplicates().hasSize(100);
      assertThat(store.commits() - before).isLessThanOrEqualTo(2);
    }
  }

  @Test
  void aWriteThatFailsByItselfTakesNoOtherWithIt() throws Exception {
    try (Store store = open()) {
      assertThatThrownBy(
              () -> store.write("the bad one", handle -> handle.execute("INSERT INTO nowhere")))
          .isInstanceOf(StoreFailed.class)
          .hasMessage(
              "the bad one was not stored: SQLite refused the statement (SQLITE_ERROR): the hub's log has it whole");
      assertThat(store.revisions().add("ann", NOW, "models: {}")).isEqualTo(1);
      assertThat(store.health()).isEqualTo(StoreHealth.Ok.OK);
    }
  }

  @Test
  void theOldestRowsGoWhereALimitIsReached() throws Exception {
    try (Store store =
        open(StoreLimits.DEFAULT.with(new StoreLimits.Kept(10, 20, 5, 6, 7, 1 << 20, 1 << 30)))) {
      for (int i = 0; i < 50; i++) {
        store.event(Severity.INFO, "kind", "subject", "message " + i);
        store.usage(usage("a", "ok", i, 1));
        store.workerChanged(new WorkerChange(NOW, "w", "n", "m", i, "SERVING", "", ""));
      }
      store.flush();
      assertThat(store.events().newest(100, Filter.ALL)).hasSize(10);
      assertThat(store.events().newest(1, Filter.ALL).getFirst().message()).isEqualTo("message 49");
      assertThat(store.usageLog().newest(100)).hasSize(20);
      assertThat(store.workerHistory().of("w", 100)).hasSize(5);
    }
  }

  @Test
  void aFullJournalDropsAndCountsAndNeverBlocks() throws Exception {
    try (Store store = open(StoreLimits.DEFAULT.with(StoreTroubleTest.waiting(4, 3)))) {
      CountDownLatch held = new CountDownLatch(1);
      CountDownLatch release = new CountDownLatch(1);
      try (ExecutorService caller = Executors.newVirtualThreadPerTaskExecutor()) {
        Future<Boolean> busy = caller.submit(() -> holdsTheWriter(store, held, release));
        held.await();
        for (int i = 0; i < 5; i++) {
          store.event(Severity.INFO, "kind", "subject", "message " + i);
        }
        assertThat(store.journalWaiting()).isEqualTo(3);
        assertThat(store.journalDropped()).isEqualTo(2);
        release.countDown();
        assertThat(busy.get()).isTrue();
      }
      store.flush();
      assertThat(store.events().newest(9, Filter.ALL)).hasSize(3);
    }
  }

  @Test
  void afterClosingAWriteSaysThatTheHubStops() throws Exception {
    Store store = open();
    store.close();
    assertThatThrownBy(() -> store.revisions().add("ann", NOW, ""))
        .isInstanceOf(StoreFailed.class)
        .hasMessage("the revision was not stored: the hub is stopping");
    store.event(Severity.INFO, "kind", "subject", "late");
    assertThat(store.journalDropped()).isEqualTo(1);
  }

  @Test
  void aDatabaseOfANewerProgramIsRefused() throws Exception {
    open().close();
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file())) {
      connection.createStatement().execute("PRAGMA user_version = 99");
    }
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreFailed.class)
        .hasMessage(
            file()
                + " was written by a newer Flotilla (its schema is 99, this program knows up to "
                + Migrations.NEWEST
                + "): start the newer program, or use another --home");
  }

  @Test
  void aDatabaseOfAnotherProgramIsRefused() throws Exception {
    Files.createDirectories(file().getParent());
    try (Connection connection = DriverManager.getConnection("jdbc:sqlite:" + file())) {
      connection.createStatement().execute("CREATE TABLE theirs (x)");
    }
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreFailed.class)
        .hasMessage(
            file() + " is a database of another program: move it away, or use another --home");
  }

  @Test
  void aDamagedDatabaseIsRefusedAtTheStart() throws Exception {
    Files.createDirectories(file().getParent());
    Files.writeString(file(), "this is no database, it only looks long enough ".repeat(100));
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreFailed.class)
        .hasMessageStartingWith("the hub can't start: the database " + file() + " is damaged: ")
        .hasMessageEndingWith("(SQLITE_NOTADB)");
  }

  @Test
  void aFolderThatCantBeMadeIsNamed() throws Exception {
    Files.writeString(home.resolve("hub"), "a file where the folder should be");
    assertThatThrownBy(this::open)
        .isInstanceOf(StoreFailed.class)
        .hasMessageStartingWith("the folder " + home.resolve("hub") + " can't be made");
  }

  @Test
  void aKeysNameIsTakenOnce() throws Exception {
    try (Store store = open()) {
      StoredKey key = new StoredKey("laptop", SecretHash.of("a"), "client", NOW);
      assertThat(store.clientKeys().add(key)).isTrue();
      assertThat(store.clientKeys().add(new StoredKey("laptop", SecretHash.of("b"), "admin", NOW)))
          .isFalse();
      assertThat(store.clientKeys().all()).containsExactly(key);
    }
  }

  @Test
  void theDefaultsAreTheDocumentedOnes() {
    assertThat(StoreLimits.DEFAULT.kept().events()).isEqualTo(100_000);
    assertThat(StoreLimits.DEFAULT.kept().usage()).isEqualTo(1_000_000);
    assertThat(StoreLimits.DEFAULT.kept().workerHistory()).isEqualTo(10_000);
    assertThat(StoreLimits.DEFAULT.kept().databaseBytes()).isEqualTo(2L << 30);
  }

  /** A write that begins, and ends when it is released. */
  private static boolean holdsTheWriter(Store store, CountDownLatch held, CountDownLatch release)
      throws StoreFailed {
    return store.write(
        "the slow one",
        handle -> {
          held.countDown();
          try {
            release.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return true;
        });
  }
}
