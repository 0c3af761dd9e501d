package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.LocalEngines;
import dev.flotilla.agent.models.DownloadLimits;
import dev.flotilla.agent.models.ModelStore;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.testkit.real.RealEngine;
import dev.flotilla.testkit.real.SmallModel;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Chat;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real vLLM and mlx-lm, as an agent starts them. */
@Tag(RealEngine.TAG)
class RealEnginesTest {
  private static final String ID = "node/small-1";
  private static final Duration START = Duration.ofMinutes(8);

  @TempDir Path home;

  @Test
  void vllmServesWhatItsPromiseSays() throws Exception {
    try (Agent agent = new Agent(RealEngine.VLLM)) {
      Path template = Files.writeString(home.resolve("t.jinja"), TEMPLATE);
      agent.supervisor.desired(
          List.of(
              spec(
                  RealEngine.VLLM,
                  SmallModel.thinkingFolder(),
                  Reasoning.REASONING_CONTENT,
                  true,
                  new Chat("hermes", "deepseek_r1", template.toString()),
                  Map.of("dtype", "float32", "enforce-eager", "true"))));
      WorkerReport report = agent.await(Phase.READY);

      assertThat(report.contextTokens()).isEqualTo(1024);
      assertThat(report.slots()).isEqualTo(2);
      assertThat(report.engineBuild()).isEqualTo("0.32.0");
      assertThat(report.longestTokenBytes()).isBetween(16, 200);
      assertThat(report.commandLine()).doesNotContain(report.apiKey());
      String chat = "{\"model\":\"small\",\"max_tokens\":4," + MESSAGE;
      assertThat(post(report, report.apiKey(), chat).body())
          .contains("\"reasoning\":\"")
          .as("the template's, not the model's own, which makes 31 of it")
          .containsPattern("\"prompt_tokens\":(9|1\\d),");
      assertThat(post(report, "wrong", chat).statusCode()).isEqualTo(401);

      long first = report.generation();
      ProcessHandle.of(report.pid()).orElseThrow().destroyForcibly();
      Awaitility.await()
          .atMost(START)
          .until(
              () -> agent.report().generation() > first && agent.report().phase() == Phase.READY);
      assertThat(agent.events).anyMatch(event -> event.message().contains("killed by signal 9"));
    }
  }

  @Test
  void whatVllmCantDoIsSaidInASentence() throws Exception {
    try (Agent agent = new Agent(RealEngine.VLLM)) {
      agent.supervisor.desired(
          List.of(
              spec(
                  RealEngine.VLLM,
                  SmallModel.folder(),
                  Reasoning.REASONING_CONTENT,
                  false,
                  new Chat("", "deepseek_r1", ""),
                  Map.of("dtype", "float32", "enforce-eager", "true"))));
      assertThat(agent.await(Phase.WAITING).reason())
          .startsWith(
              "It never became ready. Its reasoning parser finds no token for thoughts in this"
                  + " model's tokenizer; leave reasoning-parser out");
    }
  }

  @Test
  void mlxLmServesWhatItsPromiseSays() throws Exception {
    try (Agent agent = new Agent(RealEngine.MLX_LM)) {
      agent.supervisor.desired(
          List.of(
              spec(
                  RealEngine.MLX_LM,
                  SmallModel.folder(),
                  Reasoning.OFF,
                  false,
                  Chat.OWN,
                  Map.of())));
      WorkerReport report = agent.await(Phase.READY);
      assertThat(report.slots()).isEqualTo(2);
      assertThat(report.engineBuild()).isEqualTo("0.32.2 (mlx 0.32.4)");
      String chat = "{\"model\":\"default_model\",\"max_tokens\":2," + MESSAGE;
      assertThat(post(report, "", chat).body()).contains("\"prompt_tokens\": 31,");
      assertThat(agent.events).noneMatch(event -> event.kind().equals("port-taken"));

      // Its generating thread dies of this, its process does not; nobody gets an answer.
      String deadly = "{\"model\":\"default_model\",\"stop\":5,\"max_tokens\":2," + MESSAGE;
      Thread.ofVirtual()
          .start(() -> {
            try {
              post(report, "", deadly);
            } catch (Exception expected) {
              // the connection ends with the process
            }
          });
      Awaitility.await()
          .atMost(START)
          .until(() ->
              agent.report().generation() > report.generation()
                  && agent.report().phase() == Phase.READY);
      assertThat(agent.events)
          .anyMatch(event ->
              event.kind().equals("worker-broken")
                  && event
                      .message()
                      .startsWith(
                          "The thread of mlx-lm that generates has died. It was killed. It failed:"));
    }
  }

  @Test
  void aModelThatMlxLmDoesNotKnowIsSaid() throws Exception {
    try (Agent agent = new Agent(RealEngine.MLX_LM)) {
      Path model = Files.createDirectories(home.resolve("models/strange"));
      try (var files = Files.newDirectoryStream(SmallModel.folder())) {
        for (Path file : files) {
          Files.createSymbolicLink(model.resolve(file.getFileName()), file);
        }
      }
      Path config = model.resolve("config.json");
      String changed = Files.readString(config).replace("\"llama\"", "\"zork\"");
      Files.delete(config);
      Files.writeString(config, changed);
      agent.supervisor.desired(
          List.of(spec(RealEngine.MLX_LM, model, Reasoning.INLINE, false, Chat.OWN, Map.of())));
      assertThat(agent.await(Phase.WAITING).reason())
          .contains("This mlx-lm does not know the model's type 'zork'; a newer one may");
    }
  }

  private static final String MESSAGE = "\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}";

  /** Opens the thought that the parser then looks for. */
  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "<|im_start|>assistant\n<think>";

  private static WorkerSpec spec(
      RealEngine engine,
      Path model,
      Reasoning reasoning,
      boolean tools,
      Chat chat,
      Map<String, String> args) {
    return new WorkerSpec(
        ID, "small", engine.word(), model.toString(), 1024, 2, reasoning, tools, false, chat, args);
  }

  private static HttpResponse<String> post(WorkerReport report, String key, String body)
      throws Exception {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      HttpRequest request =
          HttpRequest.newBuilder(
                  URI.create("http://127.0.0.1:" + report.port() + "/v1/chat/completions"))
              .timeout(Duration.ofMinutes(2))
              .header("Content-Type", "application/json")
              .header("Authorization", "Bearer " + key)
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
  }

  /** A supervisor with one engine, which leaves nothing behind. */
  private final class Agent implements SupervisorListener, AutoCloseable {
    final List<Happened> events = new CopyOnWriteArrayList<>();
    private final List<WorkerReport> heard = new CopyOnWriteArrayList<>();
    final Supervisor supervisor;

    Agent(RealEngine engine) throws Exception {
      // What a policy names is the package's own program.
      Path program =
          Path.of(engine.program().getFirst())
              .resolveSibling(engine == RealEngine.MLX_LM ? "mlx_lm.server" : "vllm");
      Policy up = Policy.forUp(home);
      Map<String, EngineRule> rules = new HashMap<>(up.engines());
      rules.put(engine.word(), new EngineRule(Optional.of(program), false));
      Policy policy =
          new Policy(
              up.file(),
              rules,
              up.sources(),
              up.folders(),
              up.allowedFlags(),
              up.forbiddenFlags(),
              1.0,
              up.updateKeys());
      supervisor =
          new Supervisor(
              home,
              2,
              policy,
              LocalEngines.adapters(home, policy, ""),
              new ModelStore(Needs.cache().resolve("models"), Map.of(), DownloadLimits.defaults()),
              spec -> new MemoryRoom(12L << 30, false),
              this,
              ProcessStarter.inOwnSession());
      supervisor.start();
    }

    WorkerReport report() {
      return supervisor.reports().getFirst();
    }

    WorkerReport await(Phase phase) {
      Awaitility.await(phase.toString()).atMost(START).until(() -> report().phase() == phase);
      return report();
    }

    @Override
    public void workerChanged(WorkerReport report) {
      heard.add(report);
    }

    @Override
    public void happened(Happened event) {
      events.add(event);
    }

    @Override
    public void progress(
        String subject, String step, long doneBytes, long totalBytes, boolean finished) {}

    @Override
    public void close() {
      supervisor.close();
      assertThat(heard).noneMatch(report -> report.pid() != 0 && NodeUnderTest.lives(report.pid()));
      assertThat(new LaunchRecords(home).stale(Set.of())).isEmpty();
    }
  }
}
