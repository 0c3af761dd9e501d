package dev.flotilla.agent.engine;

import dev.flotilla.agent.engine.PythonInstallation.Found;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * vLLM's server: from a promise and a recipe to its command line.
 *
 * <p>The promise sets context and requests at once, and from them how much memory the cache takes:
 * left to itself vLLM takes nine tenths of a GPU, or of the machine's memory. Every option here is
 * the same on processors and GPUs. What was tried is vLLM 0.32 on processors; with CUDA the same
 * command line is untested.
 *
 * <p>A launch is known by its key, which goes into the environment ({@code VLLM_API_KEY}): {@code
 * /v1/models} answers with it and not without it. Source of the forms: vLLM 0.32, recorded.
 *
 * <p>Safe for many threads.
 */
public final class VllmAdapter implements EngineAdapter {
  static final String ENGINE = EngineFlags.VLLM;

  /** Imports in three processes take a minute or two before anything is read. */
  private static final Duration IMPORTS = Duration.ofMinutes(5);

  /** Blocks of the cache have 16 to 256 tokens, by device; a request's last one is half empty. */
  private static final int BLOCK_TOKENS_MAX = 256;

  /** Server, scheduler and worker, each a Python with the same libraries. */
  private static final long PROGRAM_BYTES = 2_300L << 20;

  private static final int BATCH_TOKENS = 2048;

  /** Options by which a recipe sets the cache's memory itself. */
  private static final List<String> MEMORY_OPTIONS =
      List.of(
          "kv-cache-memory-bytes",
          "kv_cache_memory_bytes",
          "gpu-memory-utilization",
          "gpu_memory_utilization",
          "num-gpu-blocks-override",
          "num_gpu_blocks_override");

  private final PythonInstallation installation;

  public VllmAdapter(PythonInstallation installation) {
    this.installation = installation;
  }

  @Override
  public String engine() {
    return ENGINE;
  }

  @Override
  public ModelForm modelForm() {
    return ModelForm.FOLDER;
  }

  @Override
  public boolean hasKey() {
    return true;
  }

  @Override
  public Duration slowStart() {
    return IMPORTS;
  }

  @Override
  public Optional<String> contradiction(WorkerSpec spec) {
    return Contradictions.first(spec);
  }

  @Override
  public Optional<EngineFacts> found() {
    return installation
        .found()
        .map(found -> new EngineFacts(ENGINE, found.file(), found.version()));
  }

  @Override
  public void prepare(WorkerSpec spec, ProgressListener progress)
      throws EngineUnavailable, InterruptedException {
    installation.ensure(progress);
  }

  @Override
  public int longestTokenBytes(Path model) {
    return TokenizerFile.longestTokenBytes(model);
  }

  @Override
  public boolean inherits(String variable) {
    // VLLM_… sets what the promise sets, and more; a few of the machine's own matter to its build.
    return !variable.startsWith("VLLM_")
        && !variable.startsWith("FLOTILLA_")
        && !variable.startsWith("PYTHON")
        && !variable.equals("HF_TOKEN");
  }

  @Override
  public MemoryNeed memoryNeed(WorkerSpec spec, Path model) throws ModelRefused {
    ModelFolder folder = ModelFolder.read(model);
    folder.mustReach(spec.contextTokens());
    int element = elementBytes(spec, folder);
    long weights =
        folder.quantized()
            ? folder.weightBytes()
            : Math.multiplyExact(folder.weightBytes(), (long) element) / folder.elementBytes();
    long compute = BATCH_TOKENS * (16 * folder.hidden() + folder.vocabulary() / 8) * Float.BYTES;
    return new MemoryNeed(weights, cacheBytes(spec, folder), PROGRAM_BYTES + compute);
  }

  private static long cacheBytes(WorkerSpec spec, ModelFolder folder) throws ModelRefused {
    String given =
        spec.args()
            .getOrDefault(
                "kv-cache-memory-bytes", spec.args().getOrDefault("kv_cache_memory_bytes", ""));
    if (!given.isEmpty()) {
      try {
        return Long.parseLong(given.strip());
      } catch (NumberFormatException e) {
        throw new ModelRefused("args: kv-cache-memory-bytes is a number of bytes, not " + given);
      }
    }
    String type =
        spec.args()
            .getOrDefault("kv-cache-dtype", spec.args().getOrDefault("kv_cache_dtype", "auto"));
    int element = type.startsWith("fp8") ? 1 : elementBytes(spec, folder);
    long tokens =
        Math.multiplyExact((long) spec.contextTokens() + 2 * BLOCK_TOKENS_MAX, spec.slots());
    return Math.multiplyExact(tokens, folder.cacheBytesOfAToken(element));
  }

  /**
   * What {@code --dtype} asks for; {@code auto} computes what the folder says, and 32 bits in 16.
   */
  private static int elementBytes(WorkerSpec spec, ModelFolder folder) {
    return switch (spec.args().getOrDefault("dtype", "auto")) {
      case "float32", "float" -> 4;
      case "auto" -> folder.elementBytes();
      default -> 2;
    };
  }

  @Override
  public LaunchCommand command(WorkerSpec spec, Path model, int port, int threads, Launch launch) {
    Found found =
        installation
            .found()
            .orElseThrow(() -> new IllegalStateException("vllm is gone since it was prepared"));
    List<String> line = new ArrayList<>(found.program());
    line.addAll(List.of("serve", model.toString(), "--served-model-name", spec.model()));
    line.addAll(List.of("--host", "127.0.0.1", "--port", String.valueOf(port)));
    line.addAll(List.of("--max-model-len", String.valueOf(spec.contextTokens())));
    line.addAll(List.of("--max-num-seqs", String.valueOf(spec.slots())));
    if (MEMORY_OPTIONS.stream().noneMatch(spec.args()::containsKey)) {
      cacheMemory(spec, model)
          .ifPresent(
              bytes -> line.addAll(List.of("--kv-cache-memory-bytes", String.valueOf(bytes))));
    }
    if (spec.tools()) {
      line.addAll(
          List.of("--enable-auto-tool-choice", "--tool-call-parser", spec.chat().toolParser()));
    }
    if (!spec.chat().reasoningParser().isEmpty()) {
      line.addAll(List.of("--reasoning-parser", spec.chat().reasoningParser()));
    }
    if (spec.reasoning() == Reasoning.OFF
        && !spec.args().containsKey("default-chat-template-kwargs")) {
      line.addAll(List.of("--default-chat-template-kwargs", "{\"enable_thinking\": false}"));
    }
    if (!spec.chat().template().isEmpty()) {
      line.addAll(List.of("--chat-template", spec.chat().template()));
    }
    // What its cache spared, as llama-server says it: without that no speed of reading is learned.
    line.add("--enable-prompt-tokens-details");
    line.add("--disable-fastapi-docs");
    line.addAll(List.of("--disable-access-log-for-endpoints", "/health,/metrics,/v1/models"));
    spec.args().forEach((name, value) -> CommandLine.option(line, "--" + name, value));
    return new LaunchCommand(line, environment(threads, launch));
  }

  private static Optional<Long> cacheMemory(WorkerSpec spec, Path model) {
    try {
      return Optional.of(cacheBytes(spec, ModelFolder.read(model)));
    } catch (ModelRefused e) {
      return Optional.empty(); // it was read a moment ago; the engine says what became of it
    }
  }

  private static Map<String, String> environment(int threads, Launch launch) {
    Map<String, String> variables = new HashMap<>();
    variables.put("VLLM_API_KEY", launch.apiKey());
    variables.put("VLLM_NO_USAGE_STATS", "1");
    variables.put("DO_NOT_TRACK", "1");
    variables.put("HF_HUB_OFFLINE", "1");
    variables.put("TRANSFORMERS_OFFLINE", "1");
    variables.put("PYTHONUNBUFFERED", "1");
    variables.put("OMP_NUM_THREADS", String.valueOf(threads));
    return variables;
  }

  @Override
  public Readiness probe(WorkerSpec spec, Path model, int port, Launch launch) {
    try {
      int health = EngineHttp.get(port, "/health", "").status();
      if (health == 503) {
        return new Readiness.Broken("vLLM says that its engine is dead.");
      }
      if (health != 200) {
        return stranger(port, "GET /health gave " + health);
      }
      if (EngineHttp.get(port, "/v1/models", "").status() != 401) {
        return stranger(port, "it asks for no key");
      }
      EngineHttp.Answer models = EngineHttp.get(port, "/v1/models", launch.apiKey());
      if (models.status() != 200) {
        return stranger(port, "it does not know this launch's key");
      }
      String version =
          EngineHttp.get(port, "/version", launch.apiKey()).json().path("version").asString("");
      return judge(spec, port, models.json(), version);
    } catch (ConnectException e) {
      return new Readiness.NotYet("nothing listens on port " + port + " yet");
    } catch (IOException | JacksonException e) {
      return new Readiness.NotYet("no whole answer on port " + port + ": " + e.getMessage());
    }
  }

  /** vLLM does not say how many requests it runs at once; that is in its command line alone. */
  private static Readiness judge(WorkerSpec spec, int port, JsonNode models, String version) {
    for (JsonNode model : models.path("data")) {
      if (model.path("id").asString("").equals(spec.model())) {
        int context = model.path("max_model_len").asInt(0);
        return context < spec.contextTokens()
            ? new Readiness.Wrong(
                "The engine gives %,d tokens to a request, promise.context is %,d."
                    .formatted(context, spec.contextTokens()))
            : new Readiness.Ready(version, context, spec.slots());
      }
    }
    return stranger(port, "it does not serve the name '%s'".formatted(spec.model()));
  }

  private static Readiness stranger(int port, String why) {
    return new Readiness.Stranger("Something else answers on port %d: %s.".formatted(port, why));
  }

  @Override
  public String explainExit(int exitCode, List<String> lastLogLines) {
    return ExitReason.VLLM.explain(exitCode, lastLogLines);
  }
}
