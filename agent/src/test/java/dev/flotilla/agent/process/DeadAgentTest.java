package dev.flotilla.agent.process;

import static dev.flotilla.agent.process.NodeUnderTest.SOON;
import static dev.flotilla.agent.process.NodeUnderTest.lives;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.real.Needs;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of engines whose agent was killed. */
class DeadAgentTest {
  @TempDir Path home;

  @Test
  void theNextAgentEndsWhatADeadOneLeftAndSaysSo() throws Exception {
    Process engine = sleeper();
    recordAsOfADeadAgent(engine.pid());

    try (NodeUnderTest node = new NodeUnderTest(home, NodeUnderTest.QUICK)) {
      assertThat(engine.waitFor()).isNotZero();
      assertThat(node.events("leftover-stopped"))
          .singleElement()
          .satisfies(event -> assertThat(event.subject()).isEqualTo("node/m-1"))
          .satisfies(event -> assertThat(event.message()).contains("Process " + engine.pid()));
    }
    assertThat(home.resolve("run/launch-3")).doesNotExist();
  }

  @Test
  void aProcessThatGotTheIdOfAnEngineIsLeftAlone() throws Exception {
    Process stranger = sleeper();
    recordAsOfADeadAgent(stranger.pid());
    change("start", "another start");

    assertThat(new LaunchRecords(home).leftovers()).isEmpty();
    assertThat(stranger.isAlive()).isTrue();
    stranger.destroyForcibly();
  }

  @Test
  void theEnginesOfAnAgentThatLivesAreLeftAlone() throws Exception {
    Process engine = sleeper();
    LaunchRecords records = new LaunchRecords(home);
    records.write(records.create(3), started(engine.pid()));

    assertThat(records.leftovers()).isEmpty();
    assertThat(home.resolve("run/launch-3")).exists();
    engine.destroyForcibly();
  }

  @Test
  void aDamagedRecordHurtsNobody() throws Exception {
    LaunchRecords records = new LaunchRecords(home);
    Files.writeString(records.create(3).resolve("process.properties"), "pid=-1\nstart=\\u00zz");
    records.create(4);
    assertThat(records.leftovers()).isEmpty();
    assertThat(home.resolve("run")).isEmptyDirectory();
  }

  /** The guard's pipe is closed by the operating system when the agent is killed; here by close. */
  @Test
  void theGuardKillsWhatRunsWhenItsAgentIsGone() throws Exception {
    ProcessStarter starter = ProcessStarter.inOwnSession();
    Map<String, String> environment = Map.of("PATH", System.getenv("PATH"));
    Process ended = starter.start(List.of("sleep", "600"), environment, home);
    Process running =
        starter.start(List.of("sh", "-c", "sleep 600 & echo $! > child; wait"), environment, home);
    await().atMost(SOON).until(() -> Files.exists(home.resolve("child")));
    await().atMost(SOON).until(() -> !Files.readString(home.resolve("child")).isBlank());
    OrphanGuard guard = new OrphanGuard(starter, home);
    guard.start();
    guard.add(ended.pid());
    guard.add(running.pid());
    guard.remove(ended.pid());

    guard.close();
    await().atMost(SOON).until(() -> !lives(running.pid()));
    long child = Long.parseLong(Files.readString(home.resolve("child")).strip());
    await().atMost(SOON).until(() -> !lives(child));
    assertThat(lives(ended.pid())).as("taken from the list").isTrue();
    ended.destroyForcibly();
  }

  /** As on a machine without setsid, such as a Mac. */
  @Test
  void aGroupIsMadeWithPerlWhereThereIsNoSetsid() throws Exception {
    Path bin = Files.createDirectories(home.resolve("bin"));
    Needs.that(Files.exists(Path.of("/usr/bin/perl")), "/usr/bin/perl");
    Files.createSymbolicLink(bin.resolve("perl"), Path.of("/usr/bin/perl"));
    List<String> leader = ProcessStarter.sessionLeader(bin.toString());
    Process process =
        ProcessStarter.leading(leader)
            .start(
                List.of("sh", "-c", "sleep 600 & wait"),
                Map.of("PATH", System.getenv("PATH")),
                home);
    await().atMost(SOON).until(() -> process.descendants().count() == 1);
    ProcessHandle child = process.descendants().findFirst().orElseThrow();
    assertThat(ProcessFacts.group(process.pid())).isEqualTo(process.pid());
    assertThat(ProcessFacts.group(child.pid())).isEqualTo(process.pid());
    ProcessEnd.kill(process.toHandle());
    await().atMost(SOON).until(() -> !lives(child.pid()));
    assertThat(ProcessStarter.sessionLeader("/nowhere")).isEmpty();
  }

  @Test
  void aGuardThatWasKilledIsReplacedByOneThatKnowsAll() throws Exception {
    ProcessStarter starter = ProcessStarter.inOwnSession();
    List<Process> started = new CopyOnWriteArrayList<>();
    OrphanGuard guard =
        new OrphanGuard(
            (command, environment, folder) -> {
              Process process = starter.start(command, environment, folder);
              started.add(process);
              return process;
            },
            home);
    Process first = sleeper();
    Process second = sleeper();
    guard.start();
    guard.add(first.pid());
    started.getFirst().destroyForcibly().waitFor();
    guard.add(second.pid());

    guard.close();
    await().atMost(SOON).until(() -> !first.isAlive() && !second.isAlive());
    assertThat(started).hasSize(2);
  }

  private static LaunchRecords.Started started(long pid) {
    return new LaunchRecords.Started("node/m-1", "llama-server", 9311, pid);
  }

  private static Process sleeper() throws IOException {
    return new ProcessBuilder("sleep", "600").start();
  }

  private void recordAsOfADeadAgent(long pid) throws IOException {
    LaunchRecords records = new LaunchRecords(home);
    records.write(records.create(3), started(pid));
    change("agent.start", "a start long ago");
  }

  private void change(String key, String value) throws IOException {
    Path file = home.resolve("run/launch-3/process.properties");
    Properties record = new Properties();
    try (Reader reader = Files.newBufferedReader(file)) {
      record.load(reader);
    }
    record.setProperty(key, value);
    try (Writer writer = Files.newBufferedWriter(file)) {
      record.store(writer, null);
    }
  }
}
