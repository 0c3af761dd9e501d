package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.fleet.Client.Streamed;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** A hub and two machines, as three processes with separate homes. */
final class HubAndAgentsIT {
  /** The product's promise for the time from the hub's return to the first answer. */
  private static final Duration BACK_LIMIT = Duration.ofSeconds(5);

  @Test
  void aHubThatWasKilledUnderLoadFindsItsAgentsAgain(@TempDir Path folder) throws Exception {
    try (TestFleet fleet = TestFleet.hubAndAgents(folder, "one", "two")) {
      assertThat(fleet.workers())
          .extracting(worker -> worker.path("node").asString())
          .containsExactlyInAnyOrder("one", "two");
      List<Long> engines = pids(fleet);
      var streams = fleet.client().streams(4, TestFleet.MODEL, "Tell a long story", 400, () -> {});

      fleet.process("hub").kill();
      fleet.startHub();

      await().atMost(BACK_LIMIT).pollInterval(Duration.ofMillis(50)).until(() -> answers(fleet));
      for (var stream : streams) {
        Streamed cut = stream.get(1, TimeUnit.MINUTES);
        assertThat(cut.isWhole() && cut.failed()).isFalse();
      }
      fleet.awaitServing(2);
      assertThat(pids(fleet)).as("no worker was started anew").isEqualTo(engines);
    }
  }

  private static boolean answers(TestFleet fleet) throws InterruptedException {
    try {
      return fleet.client().chat(TestFleet.MODEL, "Say hi", 1).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private static List<Long> pids(TestFleet fleet) {
    return fleet.workers().stream().map((JsonNode worker) -> worker.path("pid").asLong()).toList();
  }
}
