package dev.flotilla.agent.process;

import static dev.flotilla.agent.process.NodeUnderTest.SOON;
import static dev.flotilla.agent.process.NodeUnderTest.lives;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.real.Needs;
import dev.flotilla.wire.connection.LoopbackPorts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That what answers is what was started: real processes on real ports. */
class IdentityTest {
  @TempDir Path home;

  @BeforeEach
  void onlyWhereTheSystemSaysWhoListens() {
    Needs.that(Files.exists(Path.of("/proc/net/tcp")), "/proc/net/tcp, which Linux has");
  }

  @Test
  void anEngineWithoutAKeyIsKnownByItsSocket() throws Exception {
    try (NodeUnderTest node = node()) {
      node.supervisor.desired(List.of(node.worker("node/m-1", ListeningMain.script())));
      WorkerReport report = node.await("node/m-1", Phase.READY);
      assertThat(node.events("port-taken")).isEmpty();
      assertThat(LoopbackPorts.taken(report.port())).isTrue();
    }
  }

  @Test
  void aServerThatAnAgentLeftOnThePortIsStoppedAndSaid() throws Exception {
    try (NodeUnderTest node = node()) {
      int port = LoopbackPorts.free();
      Process stale = stale(port, new LaunchRecords(home).create(900));
      node.nextPorts.add(port);

      node.supervisor.desired(List.of(node.worker("node/m-1", ListeningMain.script())));
      WorkerReport report = node.await("node/m-1", Phase.READY);

      assertThat(stale.waitFor()).isNotZero();
      assertThat(report.port()).isNotEqualTo(port);
      assertThat(node.events("stale-server-stopped"))
          .singleElement()
          .satisfies(event ->
              assertThat(event.message())
                  .startsWith(
                      "Process %d (llama-server, launch 900 of node/old-1, port %d, running since "
                          .formatted(stale.pid(), port))
                  .endsWith(
                      ") held port %d: it was left by an agent that died; it was ended, and the worker is started anew."
                          .formatted(port)));
    }
  }

  @Test
  void somebodyElsesServerOnThePortIsLeftAlone() throws Exception {
    try (NodeUnderTest node = node()) {
      int port = LoopbackPorts.free();
      Process theirs = listening(port, Files.createDirectories(home.resolve("elsewhere")));
      node.nextPorts.add(port);

      node.supervisor.desired(List.of(node.worker("node/m-1", ListeningMain.script())));
      WorkerReport report = node.await("node/m-1", Phase.READY);

      assertThat(report.port()).isNotEqualTo(port);
      assertThat(theirs.isAlive()).isTrue();
      assertThat(node.events("port-taken"))
          .singleElement()
          .satisfies(event ->
              assertThat(event.message())
                  .startsWith(
                      "Port %d belongs to process %d, not to".formatted(port, theirs.pid())));
      theirs.destroyForcibly();
    }
  }

  @Test
  void aSilentRestartIsNoticedAndProvedAnew() throws Exception {
    try (NodeUnderTest node = node()) {
      node.supervisor.desired(List.of(node.worker("node/m-1", ListeningMain.script())));
      WorkerReport first = node.await("node/m-1", Phase.READY);

      Path folder = home.resolve("run/launch-" + first.generation());
      Files.createFile(folder.resolve("reopen"));

      node.await("noticed", () -> assertThat(node.events("worker-replaced")).hasSize(1));
      assertThat(node.events("worker-replaced").getFirst().message())
          .startsWith(
              "Port %d was opened anew, by process %d, since the launch was proved."
                  .formatted(first.port(), first.pid()));
      node.await(
          "a new launch",
          () -> {
            assertThat(node.report("node/m-1").phase()).isEqualTo(Phase.READY);
            assertThat(node.report("node/m-1").generation()).isGreaterThan(first.generation());
          });
      assertThat(lives(first.pid())).isFalse();
    }
  }

  @Test
  void anEngineThatKnowsTheKeyNoMoreIsNoMissButAnother() throws Exception {
    try (NodeUnderTest node = new NodeUnderTest(home, NodeUnderTest.QUICK)) {
      node.supervisor.desired(List.of(node.worker("node/m-1", ShellEngine.READY)));
      WorkerReport first = node.await("node/m-1", Phase.READY);

      node.engine.stranger =
          Optional.of("Something else answers on port 1: it does not know this launch's key.");
      node.await("noticed", () -> assertThat(node.events("worker-replaced")).hasSize(1));
      assertThat(node.events("worker-unresponsive")).isEmpty();
      assertThat(lives(first.pid())).isFalse();
      node.engine.stranger = Optional.empty();
      node.await(
          "a new launch",
          () -> {
            assertThat(node.report("node/m-1").phase()).isEqualTo(Phase.READY);
            assertThat(node.report("node/m-1").generation()).isGreaterThan(first.generation());
          });
    }
  }

  /** As a container's is. */
  @Test
  void anEngineWithAKeyMayListenInAProcessThatIsNoChild() throws Exception {
    try (NodeUnderTest node = new NodeUnderTest(home, NodeUnderTest.QUICK)) {
      node.portOwners =
          (port, likely) ->
              Optional.of(List.of(new PortOwners.Listener("a socket", OptionalLong.of(1))));
      node.supervisor.desired(List.of(node.worker("node/m-1", ShellEngine.READY)));
      node.await("node/m-1", Phase.READY);

      node.portOwners =
          (port, likely) ->
              Optional.of(List.of(new PortOwners.Listener("another", OptionalLong.of(1))));
      node.await("noticed", () -> assertThat(node.events("worker-replaced")).hasSize(1));
    }
  }

  @Test
  void anEngineWhoseRecordIsGoneIsFoundByItsFolderAndItsProgram() throws Exception {
    Path folder = new LaunchRecords(home).create(7);
    Path program = Files.createDirectories(home.resolve("engines/x/bin")).resolve("engine");
    Files.createSymbolicLink(program, Path.of("/bin/sleep"));
    Process engine =
        inFolder(
            List.of(program.toRealPath(java.nio.file.LinkOption.NOFOLLOW_LINKS).toString(), "600"),
            folder);
    Process shell = inFolder(List.of("sleep", "600"), folder);

    try (NodeUnderTest node = node()) {
      assertThat(engine.waitFor()).isNotZero();
      assertThat(node.events("leftover-stopped"))
          .singleElement()
          .satisfies(event ->
              assertThat(event.message())
                  .contains("Process " + engine.pid(), "launch 7 of a worker"));
      assertThat(shell.isAlive()).as("a person's own program in that folder").isTrue();
    }
    shell.destroyForcibly();
  }

  /**
   * The agent replaces itself by another program: the same process id, its children kept. Its guard
   * was killed before, so the engine survives it.
   */
  @Test
  void theChildThatSurvivesAnAgentWhichReplacedItselfIsStoppedAndSaid() throws Exception {
    Path said = home.resolve("said");
    Process agent =
        new ProcessBuilder(ReplacedAgentMain.command(home, "before"))
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    await().atMost(Duration.ofMinutes(1)).until(() -> !agent.isAlive());

    List<String> lines = Files.readAllLines(said);
    assertThat(agent.exitValue()).as(String.join("\n", lines)).isZero();
    long pid = agent.pid();
    String before = line(lines, "before ");
    String after = line(lines, "after ");
    assertThat(before).startsWith("before " + pid + " ");
    assertThat(after).startsWith("after " + pid + " ");
    String[] engine = before.split(" ", -1);
    assertThat(line(lines, "leftover-stopped "))
        .startsWith(
            "leftover-stopped Process %s (llama-server, launch 1 of node/m-1, port %s, running since "
                .formatted(engine[2], engine[3]))
        .endsWith(") was left by an agent that replaced itself and still running; it was ended.");
    assertThat(after.split(" ", -1)[2]).as("another engine").isNotEqualTo(engine[2]);
    assertThat(lives(Long.parseLong(engine[2]))).isFalse();
  }

  private static String line(List<String> lines, String begin) {
    return lines.stream()
        .filter(line -> line.startsWith(begin))
        .findFirst()
        .orElseThrow(() -> new AssertionError(String.join("\n", lines)));
  }

  private NodeUnderTest node() throws Exception {
    NodeUnderTest node = new NodeUnderTest(home, NodeUnderTest.QUICK);
    node.engine.keyed = false;
    node.portOwners = PortOwners.ofSystem();
    return node;
  }

  /** An engine whose agent is gone, in the folder of its launch. */
  private Process stale(int port, Path folder) throws IOException {
    Process process = listening(port, folder);
    new LaunchRecords(home)
        .write(
            folder, new LaunchRecords.Started("node/old-1", "llama-server", port, process.pid()));
    Path file = folder.resolve("process.properties");
    Properties record = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      record.load(reader);
    }
    record.setProperty("agent.start", "a start long ago");
    try (var writer = Files.newBufferedWriter(file)) {
      record.store(writer, null);
    }
    return process;
  }

  private static Process listening(int port, Path folder) throws IOException {
    Process process = inFolder(ListeningMain.command(String.valueOf(port)), folder);
    await().atMost(SOON).until(() -> Files.exists(folder.resolve("ready")));
    return process;
  }

  private static Process inFolder(List<String> command, Path folder) throws IOException {
    return ProcessStarter.inOwnSession()
        .start(command, Map.of("PATH", System.getenv("PATH")), folder);
  }
}
