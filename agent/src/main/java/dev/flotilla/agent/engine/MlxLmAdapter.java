package dev.flotilla.agent.engine;

import dev.flotilla.agent.engine.PythonInstallation.Found;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * mlx-lm's server: from a promise and a recipe to its command line.
 *
 * <p>It has no key, no name for its model, no limit of the context, and says that it is well while
 * it loads. So a launch is known by the process that owns the listening socket ({@code process}
 * looks at that), a request of one token proves that the model answers, and the limit of the
 * context is the hub's to hold. The promise sets how many requests run at once and how long an
 * answer may be that names no length; idle prompts, which mlx-lm keeps without a limit in bytes,
 * get one.
 *
 * <p>What was tried is mlx-lm 0.32 on processors; on Apple's GPUs the same command line is
 * untested. Safe for many threads.
 */
public final class MlxLmAdapter implements EngineAdapter {
  static final String ENGINE = EngineFlags.MLX_LM;

  /** Bytes of idle prompts, as llama-server is given. */
  static final long IDLE_PROMPT_BYTES = (long) LlamaServerAdapter.CACHE_RAM_MIB_DEFAULT << 20;

  private static final Duration IMPORTS = Duration.ofSeconds(30);

  /** The first answer comes when the model is loaded, which may take longer than one question. */
  private static final Duration FIRST_ANSWER = Duration.ofSeconds(30);

  private static final long PROGRAM_BYTES = 160L << 20;
  private static final int PREFILL_TOKENS = 2048;
  private static final int TEMPLATE_BYTES_MAX = 100_000;
  private static final String ONE_TOKEN =
      "{\"model\":\"default_model\",\"prompt\":\"Hello\",\"max_tokens\":1,\"temperature\":0}";

  private final PythonInstallation installation;

  public MlxLmAdapter(PythonInstallation installation) {
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
    return false;
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
    template(spec);
  }

  /** mlx-lm takes a template's text, not its file. */
  private static Optional<String> template(WorkerSpec spec) throws EngineUnavailable {
    if (spec.chat().template().isEmpty()) {
      return Optional.empty();
    }
    Path file = Path.of(spec.chat().template());
    try {
      if (Files.size(file) > TEMPLATE_BYTES_MAX) {
        throw new EngineUnavailable(
            "The chat-template %s has more than %,d bytes, which no command line takes."
                .formatted(file, TEMPLATE_BYTES_MAX));
      }
      return Optional.of(Files.readString(file));
    } catch (IOException e) {
      throw new EngineUnavailable(
          "The chat-template " + file + " can't be read: " + e.getMessage() + ".");
    }
  }

  @Override
  public int longestTokenBytes(Path model) {
    return TokenizerFile.longestTokenBytes(model);
  }

  @Override
  public boolean inherits(String variable) {
    return !variable.startsWith("FLOTILLA_")
        && !variable.startsWith("PYTHON")
        && !variable.startsWith("HF_");
  }

  @Override
  public MemoryNeed memoryNeed(WorkerSpec spec, Path model) throws ModelRefused {
    ModelFolder folder = ModelFolder.read(model);
    folder.mustReach(spec.contextTokens());
    long tokens = Math.multiplyExact((long) spec.contextTokens(), spec.slots());
    long cache = Math.multiplyExact(tokens, folder.cacheBytesOfAToken(folder.elementBytes()));
    long compute = PREFILL_TOKENS * 24 * folder.hidden() * Float.BYTES;
    return new MemoryNeed(folder.weightBytes(), cache, PROGRAM_BYTES + idlePrompts(spec) + compute);
  }

  private static long idlePrompts(WorkerSpec spec) throws ModelRefused {
    String given = spec.args().getOrDefault("prompt-cache-bytes", "");
    try {
      return given.isEmpty() ? IDLE_PROMPT_BYTES : Long.parseLong(given.strip());
    } catch (NumberFormatException e) {
      throw new ModelRefused("args: prompt-cache-bytes is a number of bytes, not " + given);
    }
  }

  @Override
  public LaunchCommand command(WorkerSpec spec, Path model, int port, int threads, Launch launch) {
    Found found =
        installation
            .found()
            .orElseThrow(() -> new IllegalStateException("mlx-lm is gone since it was prepared"));
    List<String> line = new ArrayList<>(found.program());
    line.addAll(List.of("--model", model.toString(), "--host", "127.0.0.1"));
    line.addAll(List.of("--port", String.valueOf(port)));
    // It batches by the larger of the two.
    String slots = String.valueOf(spec.slots());
    line.addAll(List.of("--decode-concurrency", slots, "--prompt-concurrency", slots));
    line.addAll(List.of("--max-tokens", String.valueOf(spec.contextTokens())));
    if (!spec.args().containsKey("prompt-cache-bytes")) {
      line.addAll(List.of("--prompt-cache-bytes", String.valueOf(IDLE_PROMPT_BYTES)));
    }
    if (!spec.args().containsKey("temp")) {
      // Its own default is 0; that of the API, and of other engines, is 1.
      line.addAll(List.of("--temp", "1.0"));
    }
    if (spec.reasoning() == Reasoning.OFF && !spec.args().containsKey("chat-template-args")) {
      line.addAll(List.of("--chat-template-args", "{\"enable_thinking\": false}"));
    }
    try {
      template(spec).ifPresent(text -> line.addAll(List.of("--chat-template", text)));
    } catch (EngineUnavailable e) {
      throw new IllegalStateException("the template is gone since it was prepared", e);
    }
    spec.args().forEach((name, value) -> CommandLine.option(line, "--" + name, value));
    // An existing, empty folder in the place of the user's cache: without one, GET /v1/models
    // answers nothing, and with the user's it offers every model that lies there.
    String empty = launch.runDirectory().resolve("config").toString();
    return new LaunchCommand(
        line,
        Map.of(
            "HF_HUB_OFFLINE", "1",
            "HF_HUB_CACHE", empty,
            "TRANSFORMERS_OFFLINE", "1",
            "PYTHONUNBUFFERED", "1"));
  }

  @Override
  public Readiness probe(WorkerSpec spec, Path model, int port, Launch launch) {
    Readiness first = pulse(spec, model, port, launch);
    if (!(first instanceof Readiness.Ready)) {
      return first;
    }
    try {
      if (!serves(model, EngineHttp.get(port, "/v1/models", "").json())) {
        return new Readiness.Stranger(
            "Something else answers on port %d: it does not serve %s.".formatted(port, model));
      }
      EngineHttp.Answer token =
          EngineHttp.post(port, "/v1/completions", "", ONE_TOKEN, FIRST_ANSWER);
      if (token.status() == 200) {
        String build = build(token.json().path("system_fingerprint").asString(""));
        return new Readiness.Ready(build, spec.contextTokens(), spec.slots());
      }
      return token.body().contains("thread died")
          ? new Readiness.Broken("mlx-lm could not load the model.")
          : new Readiness.NotYet("a request of one token gave " + token.status());
    } catch (IOException | JacksonException e) {
      return new Readiness.NotYet("no whole answer on port " + port + ": " + e.getMessage());
    }
  }

  /** That its port answers says that its process is well; 503, that nothing will answer again. */
  @Override
  public Readiness pulse(WorkerSpec spec, Path model, int port, Launch launch) {
    try {
      int health = EngineHttp.get(port, "/health", "").status();
      return switch (health) {
        case 200 -> new Readiness.Ready("", spec.contextTokens(), spec.slots());
        case 503 -> new Readiness.Broken("The thread of mlx-lm that generates has died.");
        default ->
            new Readiness.Stranger(
                "Something else answers on port %d: GET /health gave %d.".formatted(port, health));
      };
    } catch (ConnectException e) {
      return new Readiness.NotYet("nothing listens on port " + port + " yet");
    } catch (IOException e) {
      return new Readiness.NotYet("no whole answer on port " + port + ": " + e.getMessage());
    }
  }

  /** It names its model by the folder, whole. */
  private static boolean serves(Path model, JsonNode models) {
    for (JsonNode each : models.path("data")) {
      if (Path.of(each.path("id").asString("")).equals(model.toAbsolutePath().normalize())) {
        return true;
      }
    }
    return false;
  }

  /** {@code 0.32.2-0.32.4-Linux-…}: its own version, that of mlx, and the system. */
  private static String build(String fingerprint) {
    String[] parts = fingerprint.split("-", 3);
    return parts.length < 2 ? fingerprint : parts[0] + " (mlx " + parts[1] + ")";
  }

  @Override
  public String explainExit(int exitCode, List<String> lastLogLines) {
    return ExitReason.MLX_LM.explain(exitCode, lastLogLines);
  }
}
