package dev.flotilla.cli.clients;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.dataset.Dataset;
import dev.flotilla.bench.dataset.DatasetLimits;
import dev.flotilla.bench.dataset.DatasetOptions;
import dev.flotilla.bench.dataset.Datasets;
import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Server;
import dev.flotilla.wire.http.HttpHeaders;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Prompts are as long as they say, counted and sent through a hub, which has no tokenizer. */
@ExtendWith(SharedFleet.class)
final class RandomThroughHubIT {
  private final KeyedFleet fleet;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  RandomThroughHubIT(KeyedFleet fleet) {
    this.fleet = fleet;
  }

  @Test
  void throughAHubUsageCounts() throws Exception {
    HttpHeaders key = HttpHeaders.of("Authorization", "Bearer " + fleet.key());
    try (Server server = new Server(URI.create(fleet.api()), key, Optional.empty())) {
      Dataset made =
          new Datasets(server, fleet.model(), DatasetLimits.DEFAULTS)
              .make(DatasetOptions.of("random").withLengths(40, 1, 0, 0).withCount(3));

      assertThat(made.notes())
          .singleElement()
          .asString()
          .startsWith("Tokens of prompts are added up");
      for (Prompt prompt : made.prompts()) {
        assertThat(prompt.inputTokens()).isEqualTo(40);
        assertThat(promptTokens(fleet.api(), prompt)).isEqualTo(40);
      }
    }
  }

  /** What the engine counts of a completion's prompt, where no template adds to it. */
  private int promptTokens(String api, Prompt prompt) throws Exception {
    ObjectNode body =
        JsonMapper.shared()
            .createObjectNode()
            .put("model", fleet.model())
            .put("max_tokens", 1)
            .put("prompt", ((Prompt.Input.Text) prompt.input()).text());
    var reply =
        http.send(
            HttpRequest.newBuilder(URI.create(api + "/completions"))
                .header("Authorization", "Bearer " + fleet.key())
                .header("Content-Type", "application/json")
                .timeout(KeyedFleet.ANSWER_LIMIT)
                .POST(BodyPublishers.ofString(body.toString()))
                .build(),
            BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(reply.body()).at("/usage/prompt_tokens").asInt();
  }
}
