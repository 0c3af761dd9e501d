package dev.flotilla.agent.process;

import static dev.flotilla.agent.process.NodeUnderTest.QUICK;
import static dev.flotilla.agent.process.NodeUnderTest.lives;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SupervisorTest {
  private static final String ID = "node/m-1";

  @TempDir Path home;
  private NodeUnderTest node;

  @BeforeEach
  void start() throws Exception {
    node = new NodeUnderTest(home, QUICK);
  }

  @AfterEach
  void nothingIsLeftBehind() throws IOException {
    node.close();
    node.heard.stream()
        .filter(report -> report.pid() != 0)
        .forEach(report -> assertThat(lives(report.pid())).as("%s", report).isFalse());
    try (var launches = Files.list(Files.createDirectories(home.resolve("run")))) {
      assertThat(launches).as("folders of launches").isEmpty();
    }
  }

  @Test
  void aWorkerThatIsWantedBecomesReadyAndTellsHowItWasStarted() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    WorkerReport report = node.await(ID, Phase.READY);

    assertThat(report.generation()).isEqualTo(1);
    assertThat(report.commandLine()).startsWith("sh", "-c", ShellEngine.READY);
    assertThat(report.commandLine()).doesNotContain(report.apiKey());
    assertThat(report.apiKey()).hasSize(48);
    assertThat(report.engineBuild()).isEqualTo("shell 1");
    assertThat(report.contextTokens()).isEqualTo(4096);
    assertThat(report.slots()).isEqualTo(4);
    assertThat(report.longestTokenBytes()).isEqualTo(7);
    assertThat(report.launches()).isEqualTo(1);
    assertThat(report.startedAt()).isNotNull();
    assertThat(lives(report.pid())).isTrue();
    assertThat(node.supervisor.port(ID, 1)).hasValue(report.port());
    assertThat(node.supervisor.port(ID, 0)).isEmpty();
    assertThat(node.supervisor.port("node/other-1", 1)).isEmpty();
    assertThat(node.heard)
        .extracting(WorkerReport::phase)
        .containsExactly(Phase.PREPARING, Phase.STARTING, Phase.READY);
    assertThat(node.events)
        .extracting(event -> event.kind())
        .containsExactly("worker-started", "worker-ready");
  }

  @Test
  void itsMemoryIsMeasuredWhileItRuns() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    node.await(ID, Phase.READY);
    node.await("memory", () -> assertThat(node.report(ID).residentBytes()).isPositive());
  }

  @Test
  void aWorkerThatIsKilledComesBackWithAHigherGeneration() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    WorkerReport first = node.await(ID, Phase.READY);
    ProcessHandle.of(first.pid()).orElseThrow().destroyForcibly();

    node.await("second launch", () -> assertThat(node.report(ID).launches()).isEqualTo(2));
    WorkerReport second = node.await(ID, Phase.READY);
    assertThat(second.generation()).isGreaterThan(first.generation());
    assertThat(second.apiKey()).isNotEqualTo(first.apiKey());
    assertThat(node.supervisor.port(ID, first.generation())).isEmpty();
    assertThat(node.events("worker-died"))
        .singleElement()
        .satisfies(event ->
            assertThat(event.message())
                .contains("Its process " + first.pid() + " ended")
                .contains("Exit code 137")
                .contains("It is started again in"));
  }

  @Test
  void aFrozenEngineIsKilledAndStartedAgainWhileItsNeighbourGoesOn() throws Exception {
    node.close();
    node = new NodeUnderTest(home, NodeUnderTest.HASTY);
    node.supervisor.desired(
        List.of(node.worker(ID, ShellEngine.READY), node.worker("node/n-1", ShellEngine.READY)));
    WorkerReport first = node.await(ID, Phase.READY);
    WorkerReport neighbour = node.await("node/n-1", Phase.READY);
    new ProcessBuilder("kill", "-STOP", String.valueOf(first.pid())).start().waitFor();
    node.engine.hangs = first.generation();

    node.await("verdict", () -> assertThat(node.events("worker-unresponsive")).hasSize(1));
    node.await("second launch", () -> assertThat(node.report(ID).launches()).isEqualTo(2));
    WorkerReport second = node.await(ID, Phase.READY);

    assertThat(lives(first.pid())).isFalse();
    assertThat(second.generation()).isGreaterThan(first.generation());
    assertThat(node.events("worker-unresponsive").getFirst().message())
        .contains("Its process " + first.pid() + " exists and did not answer 3 times in a row")
        .contains("asked every 0.1 s with 0.2 s to answer (last: no answer within 0.2 s)")
        .contains("It is started again in");
    assertThat(node.heard)
        .filteredOn(report -> report.phase() == Phase.WAITING)
        .singleElement()
        .satisfies(report -> assertThat(report.reason()).contains("did not answer 3 times"));
    assertThat(node.report("node/n-1").pid()).isEqualTo(neighbour.pid());
    assertThat(node.report("node/n-1").launches()).isEqualTo(1);
    assertThat(node.events("worker-died")).isEmpty();
  }

  @Test
  void anEngineThatTurnsIntoAnotherIsEndedToo() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    node.await(ID, Phase.READY);
    node.engine.wrong = Optional.of("Something else answers on port 1: it has another key.");
    node.await(
        "verdict",
        () ->
            assertThat(node.events("worker-unresponsive"))
                .isNotEmpty()
                .first()
                .satisfies(event ->
                    assertThat(event.message())
                        .contains("(last: Something else answers on port 1: it has another key)")));
    node.engine.wrong = Optional.empty();
    node.await(ID, Phase.READY);
  }

  @Test
  void onlyMissesInARowCountAndNoneWhileTheAgentItselfWasHeldUp() {
    SupervisorLimits limits = SupervisorLimits.DEFAULTS;
    Duration usual = limits.aliveEvery().plus(limits.aliveWithin());
    Misses misses = new Misses(limits);

    assertThat(misses.missed(usual)).isFalse();
    assertThat(misses.missed(usual)).isFalse();
    misses.answered();
    assertThat(misses.missed(usual)).isFalse();
    assertThat(misses.missed(usual)).isFalse();
    assertThat(misses.missed(Duration.ofHours(8))).as("the machine slept").isFalse();
    assertThat(misses.missed(usual)).isFalse();
    assertThat(misses.missed(usual)).isFalse();
    assertThat(misses.missed(usual)).as("the third in a row").isTrue();
  }

  @Test
  void aWorkerThatNeverWorksIsTriedAgainWithGrowingPausesAndSaysWhatItSaid() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.DIES_AT_ONCE)));
    node.await(
        "four tries",
        () -> assertThat(node.events("worker-not-ready")).hasSizeGreaterThanOrEqualTo(4));

    assertThat(node.events("worker-not-ready").getFirst().message())
        .contains("It never became ready. Exit code 3, last line: no such option");
    assertThat(node.heard)
        .filteredOn(report -> report.phase() == Phase.WAITING)
        .first()
        .satisfies(report -> assertThat(report.pid()).isZero())
        .satisfies(report -> assertThat(report.reason()).contains("started again in"));
    List<Duration> pauses = new ArrayList<>();
    for (int failures = 0; failures < 8; failures++) {
      pauses.add(SupervisorLimits.DEFAULTS.pause(failures, 0.5));
    }
    assertThat(pauses)
        .extracting(Duration::toSeconds)
        .containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L);
  }

  @Test
  void anEngineThatIsNeverReadyIsEndedAndSaysWhatWasSeen() throws Exception {
    node.close();
    node =
        new NodeUnderTest(
            home,
            new SupervisorLimits(
                Duration.ofMillis(300),
                1 << 20,
                Duration.ofMillis(10),
                Duration.ofMillis(50),
                Duration.ofMillis(100),
                Duration.ofSeconds(2),
                3,
                Duration.ofMillis(500),
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                Duration.ofHours(1),
                3,
                4,
                1 << 20));
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.NEVER_READY)));
    WorkerReport report = node.await(ID, Phase.WAITING);

    assertThat(report.reason())
        .contains("not ready within 0.3 s (no file says that it is ready)")
        .contains("node_m-1.log");
  }

  @Test
  void somethingElseOnThePortIsNotTakenForTheWorker() {
    node.engine.wrong = Optional.of("Something else answers on port 1: it is a stranger.");
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.NEVER_READY)));
    node.await(
        "refusal",
        () ->
            assertThat(node.events("worker-not-ready"))
                .anyMatch(event -> event.message().contains("Something else answers")));
    assertThat(node.heard).noneMatch(report -> report.phase() == Phase.READY);
  }

  @Test
  void aPortThatIsTakenIsLeftToItsOwner() throws Exception {
    List<ServerSocket> thieves = new ArrayList<>();
    ProcessStarter real = node.starter;
    node.starter =
        (command, environment, folder) -> {
          if (thieves.isEmpty()) {
            int port = Integer.parseInt(command.get(4));
            thieves.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
            return real.start(List.of("sh", "-c", "exit 1"), environment, folder);
          }
          return real.start(command, environment, folder);
        };
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    WorkerReport report = node.await(ID, Phase.READY);

    assertThat(report.port()).isNotEqualTo(thieves.getFirst().getLocalPort());
    assertThat(report.generation()).as("the same launch").isEqualTo(1);
    assertThat(node.events("worker-not-ready")).isEmpty();
    thieves.getFirst().close();
  }

  @Test
  void whatIsNotWantedAnyMoreIsStopped() {
    node.supervisor.desired(
        List.of(node.worker(ID, ShellEngine.READY), node.worker("node/m-2", ShellEngine.READY)));
    WorkerReport first = node.await(ID, Phase.READY);
    WorkerReport second = node.await("node/m-2", Phase.READY);
    assertThat(first.commandLine()).as("cores are shared").endsWith("threads", "4");

    node.supervisor.desired(List.of(node.worker("node/m-2", ShellEngine.READY)));
    node.await("only one", () -> assertThat(node.supervisor.reports()).hasSize(1));
    assertThat(lives(first.pid())).isFalse();
    assertThat(node.report("node/m-2").pid()).as("left alone").isEqualTo(second.pid());
    assertThat(node.heard)
        .filteredOn(report -> report.id().equals(ID))
        .last()
        .satisfies(report -> assertThat(report.phase()).isEqualTo(Phase.STOPPED))
        .satisfies(report -> assertThat(report.reason()).isEqualTo("It is not wanted any more."));
  }

  @Test
  void aChangedRecipeReplacesTheProcess() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    WorkerReport first = node.await(ID, Phase.READY);
    node.supervisor.desired(List.of(node.worker(ID, "touch ready; sleep 601")));
    node.await(
        "the new recipe",
        () ->
            assertThat(node.report(ID))
                .satisfies(report -> assertThat(report.phase()).isEqualTo(Phase.READY))
                .satisfies(
                    report -> assertThat(report.commandLine()).contains("touch ready; sleep 601")));
    assertThat(lives(first.pid())).isFalse();
    assertThat(node.report(ID).generation()).isGreaterThan(first.generation());
  }

  @Test
  void restartByHandStartsAtOnce() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    WorkerReport first = node.await(ID, Phase.READY);
    node.supervisor.restart(ID);
    node.supervisor.restart("node/nobody-1");
    node.await("second launch", () -> assertThat(node.report(ID).launches()).isEqualTo(2));
    node.await(ID, Phase.READY);
    assertThat(lives(first.pid())).isFalse();
    assertThat(node.events("worker-died")).isEmpty();
  }

  @Test
  void anEngineThatDoesNotListenIsKilled() {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.IGNORES_TERM)));
    WorkerReport report = node.await(ID, Phase.READY);
    node.supervisor.close();
    assertThat(lives(report.pid())).isFalse();
    assertThat(node.supervisor.reports()).isEmpty();
  }

  @Test
  void whatAnEngineStartedEndsWithIt() throws Exception {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.HAS_A_CHILD)));
    WorkerReport report = node.await(ID, Phase.READY);
    long child =
        Long.parseLong(
            Files.readString(home.resolve("run/launch-" + report.generation() + "/child")).strip());
    assertThat(lives(child)).isTrue();
    node.supervisor.desired(List.of());
    node.await("no worker", () -> assertThat(node.supervisor.reports()).isEmpty());
    assertThat(lives(child)).isFalse();
  }

  @Test
  void tooLittleMemoryIsSaidInNumbersAndTriedAgain() {
    node.engine.need = new MemoryNeed(3L << 30, 1L << 30, 1L << 29);
    node.memoryAvailable = 4L << 30;
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    WorkerReport refused = node.await(ID, Phase.REFUSED);

    assertThat(refused.reason())
        .isEqualTo(
            "It needs 4.50 GiB (weights 3.00 GiB, cache 1.00 GiB, working memory 0.50 GiB), 3.00"
                + " GiB may be used of 4.00 GiB free: 1.50 GiB are missing.");
    assertThat(refused.pid()).isZero();
    node.memoryAvailable = 8L << 30;
    node.await(ID, Phase.READY);
    assertThat(node.events("worker-refused")).as("said once").hasSize(1);
  }

  @Test
  void whatOneWorkerWasGrantedIsNotGrantedAgain() {
    node.engine.need = new MemoryNeed(2L << 30, 0, 0);
    node.memoryAvailable = 4L << 30; // 3 GiB may be used: one fits, and has touched next to nothing
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    node.await(ID, Phase.READY);
    node.supervisor.desired(
        List.of(node.worker(ID, ShellEngine.READY), node.worker("node/m-2", ShellEngine.READY)));
    assertThat(node.await("node/m-2", Phase.REFUSED).reason())
        .contains("others were granted 2.00 GiB more")
        .contains("1.00 GiB are missing");
  }

  @Test
  void whatCannotBeStartedAsAskedIsRefusedBeforeAProcessStarts() throws Exception {
    node.supervisor.desired(
        List.of(
            node.worker(ID, Map.of("contradicts", "args: ctx-size contradicts the promise")),
            node.worker("node/m-2", Map.of("rpc", "host:1"))));
    assertThat(node.await(ID, Phase.REFUSED).reason()).contains("contradicts the promise");
    assertThat(node.await("node/m-2", Phase.REFUSED).reason())
        .contains("policy does not allow the option rpc");
    node.engine.missing = Optional.of("No llama-server is here.");
    node.supervisor.desired(List.of(node.worker("node/m-3", ShellEngine.READY)));
    assertThat(node.await("node/m-3", Phase.REFUSED).reason())
        .isEqualTo("No llama-server is here.");
    Files.delete(node.model);
    node.supervisor.desired(List.of(node.worker("node/m-4", ShellEngine.READY)));
    assertThat(node.await("node/m-4", Phase.REFUSED).reason()).contains("there is no such file");
    assertThat(node.events("worker-started")).isEmpty();
  }

  @Test
  void moreWorkersThanANodeRunsAreLeftOut() {
    List<WorkerSpec> many = new ArrayList<>();
    for (int i = 1; i <= 6; i++) {
      many.add(node.worker("node/m-" + i, ShellEngine.READY));
    }
    node.supervisor.desired(many);
    assertThat(node.supervisor.reports()).hasSize(4);
    assertThat(node.events("too-many-workers")).hasSize(1);
  }

  @Test
  void generationsGrowAcrossRestartsOfTheAgent() throws Exception {
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    long before = node.await(ID, Phase.READY).generation();
    node.close();
    node = new NodeUnderTest(home, QUICK);
    node.supervisor.desired(List.of(node.worker(ID, ShellEngine.READY)));
    assertThat(node.await(ID, Phase.READY).generation()).isGreaterThan(before);
  }

  @Test
  void theEnvironmentIsScrubbedAndHoldsTheKey() {
    node.supervisor.desired(
        List.of(node.worker(ID, "echo home=$HOME key=$ENGINE_KEY; touch ready; exec sleep 600")));
    WorkerReport report = node.await(ID, Phase.READY);
    node.await(
        "the log",
        () ->
            assertThat(home.resolve("logs/node_m-1.log"))
                .content()
                .contains("home= key=" + report.apiKey()));
  }
}
