package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.cli.TestShell;
import dev.flotilla.cli.fleet.Client.Streamed;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code flotilla up}, as a new user meets it. */
final class UpIT {
  /** Longer than an engine has to end by itself, on a busy machine. */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(20);

  /** More tokens than are written while a hub stops. */
  private static final int ENDLESS = 3_000;

  private static TestFleet fleet;

  @BeforeAll
  static void start(@TempDir Path folder) {
    fleet = TestFleet.upOnTerminal(folder);
    // It is ready before that where the second takes half a minute longer than the first.
    fleet.awaitServing(2);
  }

  /** Whatever was done with it before, that is the last that a user sees of it. */
  @AfterAll
  static void ctrlCTellsWhoIsServedAndLeavesNothingBehind() throws Exception {
    try (TestFleet _ = fleet) {
      FlotillaProcess up = fleet.process("up");
      List<ProcessHandle> children = up.children();
      assertThat(children).hasSizeGreaterThanOrEqualTo(3);
      CountDownLatch begun = new CountDownLatch(1);
      var stream =
          fleet
              .client()
              .longStream(TestFleet.MODEL, "Tell a long story", ENDLESS, begun::countDown);
      assertThat(begun.await(TestFleet.CHANGE_LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

      up.pressCtrlC();

      // not torn by its engine's end: the engine is there until the hub has told its clients
      assertThat(stream).as(up::output).succeedsWithin(STOP_LIMIT);
      Streamed end = stream.join();
      assertThat(end.events().getLast()).contains("stream_cut").contains("the hub stops");
      assertThat(up.exitCode(STOP_LIMIT)).isEqualTo(130);
      assertThat(children).noneMatch(ProcessHandle::isAlive);
    }
  }

  @Test
  void aFreshHomeServesFromTwoWorkers() throws Exception {
    var answer = fleet.client().chat(TestFleet.MODEL, "Say hi", 16);
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode reply = JsonMapper.shared().readTree(answer.body());
    assertThat(reply.path("model").asString()).isEqualTo(TestFleet.MODEL);
    assertThat(reply.at("/choices/0/message/content").asString()).isNotBlank();

    assertThat(fleet.workers())
        .hasSize(2)
        .allSatisfy(worker -> {
          assertThat(worker.path("state").asString()).isEqualTo("SERVING");
          assertThat(worker.path("startedWith").toString())
              .contains(".gguf", "--port", "127.0.0.1")
              .doesNotContain("api-key");
        });
  }

  @Test
  void aSecondOneOnTheSameHomeIsToldWhoHasIt() {
    TestShell second = TestShell.piped();
    assertThat(second.run("up", "--home", fleet.home("up").toString())).isEqualTo(1);
    assertThat(second.err())
        .contains("is in use by 'flotilla up' (process " + fleet.process("up").pid())
        .contains(fleet.url());
  }

  @Test
  void anEngineThatIsKilledTakesOnlyItsOwnStreamsAndComesBack() throws Exception {
    CountDownLatch begun = new CountDownLatch(8);
    var streams =
        fleet
            .client()
            .streams(8, TestFleet.MODEL, "Tell a long story of the sea", 300, begun::countDown);
    assertThat(begun.await(TestFleet.CHANGE_LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

    JsonNode victim = fleet.workers().getFirst();
    ProcessHandle.of(victim.path("pid").asLong()).orElseThrow().destroyForcibly();

    String name = victim.path("name").asString();
    for (var stream : streams) {
      Streamed end = stream.get(4, TimeUnit.MINUTES);
      assertThat(end.status()).isEqualTo(200);
      if (end.worker().equals(name)) {
        assertThat(end.isWhole() || end.failed()).as("%s", end.events().getLast()).isTrue();
        assertThat(end.failed() && end.events().contains("[DONE]")).isFalse();
      } else {
        assertThat(end.isWhole()).as("%s", end.events().getLast()).isTrue();
      }
    }
    fleet.awaitServing(2);
    TestShell events = TestShell.piped();
    assertThat(events.ask(fleet.url(), "get", "events", "--subject", name)).isZero();
    assertThat(events.out()).contains("worker-died").contains("worker-ready");
  }
}
