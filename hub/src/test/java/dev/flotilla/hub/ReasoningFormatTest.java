package dev.flotilla.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.lanes.TestAgent;
import dev.flotilla.hub.proof.ProofLimits;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.testkit.real.ChatTemplate;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.RealServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/**
 * The story of the reasoning format: one name, two real llama-servers with a model that thinks, of
 * which one was not told where its thoughts belong.
 */
final class ReasoningFormatTest {
  private static final Duration PROOF_LIMIT = Duration.ofMinutes(5);

  private static final String FLEET =
      """
      models:
        m:
          promise: { context: 4096, reasoning: reasoning_content }
          replicas: 2
          recipes:
            - { engine: llama-server, source: /models/m.gguf, slots: 4 }
      limits:
        proof: { tokens: 16, level: 15s }
      """;

  /** The grammar closes the thought that the template opened. */
  private static final String THOUGHTFUL =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Tell me a story.\"}],"
          + "\"grammar\":\"root ::= \\\"Let me think.\\\\n</think>\\\\n\\\\nOnce upon a time\\\"\"}";

  @Test
  void withoutTheFlagAWorkerIsRefusedWithBothShapesAndWithItItServes(@TempDir Path home)
      throws Exception {
    try (RealServer right = llamaServer("deepseek");
        Hub hub = HubCalls.start(home, ProofLimits.DEFAULTS);
        TestAgent one = HubCalls.joins(hub, "one", "one");
        TestAgent two = HubCalls.joins(hub, "two", "two")) {
      HubCalls.awaitNodes(hub, 2);
      assertThat(hub.revisions().apply(FLEET, "fleet.yaml", "ann", false))
          .isInstanceOf(Revisions.Outcome.Applied.class);
      HubCalls.awaitWanted(one, "one/m-1");
      HubCalls.awaitWanted(two, "two/m-1");
      // No room for a second worker: one that is refused stays where it is, and is not moved here.
      one.hasFree(1).serves("one/m-1", 1, right.port());
      awaitState(hub, "one/m-1", State.SERVING);

      try (RealServer wrong = llamaServer("none")) {
        two.serves("two/m-1", 1, wrong.port());
        awaitState(hub, "two/m-1", State.REFUSED);
      }

      JsonNode refused = lastProof(hub, "two/m-1");
      JsonNode plain = refused.path("findings").path(0);
      assertThat(refused.path("reason").asString())
          .startsWith("its shape is not its model's: plain: expected as one/m-1 answers: ")
          .contains("seen ");
      assertThat(plain.path("probe").asString()).isEqualTo("plain");
      assertThat(plain.path("expected").asString()).contains("reasoning reasoning_content");
      assertThat(plain.path("seen").asString()).contains("reasoning inline");

      try (RealServer flagged = llamaServer("deepseek")) {
        two.serves("two/m-1", 2, flagged.port());
        awaitState(hub, "two/m-1", State.SERVING);
        assertThat(lastProof(hub, "two/m-1").path("findings"))
            .filteredOn(finding -> finding.path("stage").asString().equals("shape"))
            .isNotEmpty()
            .allMatch(finding -> finding.path("held").asBoolean());

        HubCalls.post(hub, "/api/drain", "{\"name\":\"one/m-1\"}");
        HttpResponse<String> reply = HubCalls.post(hub, "/v1/chat/completions", THOUGHTFUL);
        assertThat(reply.headers().firstValue("x-flotilla-worker")).contains("two/m-1");
        JsonNode message = HubCalls.json(reply).at("/choices/0/message");
        assertThat(message.path("reasoning_content").asString().strip()).isEqualTo("Let me think.");
        assertThat(message.path("content").asString()).isEqualTo("Once upon a time");
      }
    }
  }

  private static RealServer llamaServer(String reasoningFormat) {
    return RealServer.of(RealEngine.LLAMA_SERVER)
        .options("-t", "1", "-np", "4", "-c", "16384", "--jinja")
        .options("--chat-template-file", ChatTemplate.THINK.file().toString())
        .options("--reasoning-format", reasoningFormat)
        .start();
  }

  private static void awaitState(Hub hub, String worker, State state) {
    await()
        .atMost(PROOF_LIMIT)
        .untilAsserted(() ->
            assertThat(hub.fleet().worker(worker))
                .as(() -> String.valueOf(hub.fleet().worker(worker)))
                .map(WorkerView::state)
                .contains(state));
  }

  private static JsonNode lastProof(Hub hub, String worker) throws Exception {
    return HubCalls.json(HubCalls.get(hub, "/api/proofs?limit=1&worker=" + worker)).path(0);
  }
}
