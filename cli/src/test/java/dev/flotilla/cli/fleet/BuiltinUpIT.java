package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.TestShell;
import dev.flotilla.testkit.real.SmallModel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** {@code flotilla up} on a machine that has no engine: the built-in one, for texts and vectors. */
final class BuiltinUpIT {
  @Test
  void aMachineWithoutAnyEngineServesFromProvedBuiltInWorkers(@TempDir Path folder)
      throws Exception {
    try (TestFleet fleet = TestFleet.upAlone(folder, SmallModel.gguf())) {
      fleet.awaitServing(2);
      assertThat(fleet.workers())
          .hasSize(2)
          .allSatisfy(worker -> {
            assertThat(worker.path("state").asString()).isEqualTo("SERVING");
            assertThat(worker.path("engine").asString()).isEqualTo("builtin");
            assertThat(worker.path("startedWith").toString())
                .contains("serve", "--slots", "127.0.0.1")
                .doesNotContain("api-key");
          });
      assertThat(folder.resolve("up").resolve("engines")).isEmptyDirectory();

      var answer = fleet.client().chat(TestFleet.MODEL, "Say hi", 16);
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
      JsonNode reply = JsonMapper.shared().readTree(answer.body());
      assertThat(reply.path("model").asString()).isEqualTo(TestFleet.MODEL);
      assertThat(reply.at("/choices/0/message/content").asString()).isNotBlank();

      String killed = fleet.workers().getFirst().path("name").asString();
      ProcessHandle.of(fleet.workers().getFirst().path("pid").asLong())
          .orElseThrow()
          .destroyForcibly();
      await()
          .atMost(TestFleet.CHANGE_LIMIT)
          .untilAsserted(() -> {
            TestShell events = TestShell.piped();
            assertThat(events.ask(fleet.url(), "get", "events", "--subject", killed)).isZero();
            assertThat(events.out()).contains("worker-died");
          });
      fleet.awaitServing(2);

      fleet.apply(
          """
          models:
            vectors:
              promise: { context: 512 }
              recipes: [{ engine: builtin, source: "%s", slots: 2, embeddings: true }]
          """
              .formatted(SmallModel.gguf()));
      await()
          .atMost(TestFleet.CHANGE_LIMIT)
          .untilAsserted(() -> {
            var vector = fleet.client().vector("vectors", "Hello");
            assertThat(vector.statusCode()).as(vector.body()).isEqualTo(200);
            assertThat(JsonMapper.shared().readTree(vector.body()).at("/data/0/embedding").size())
                .isEqualTo(576);
          });
    }
  }
}
