package dev.flotilla.agent.engine;

import dev.flotilla.agent.engine.LlamaServerInstallation.Binary;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.gguf.MemoryArithmetic.CacheLayout;
import dev.flotilla.gguf.TensorType;
import dev.flotilla.wire.fleet.EngineFlags;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * llama.cpp's llama-server: from a promise and a recipe to its command line.
 *
 * <p>The promise owns what it speaks of: context for each slot ({@code -c} is the sum over the
 * slots, which share nothing), reasoning format, tools by the model's own template. Everything else
 * is the recipe's. What an older program does not know is left out where the promise holds without
 * it. A launch is known by its key (in the environment) and, where the program can, by a tag made
 * from the key: {@link LaunchProbe}.
 *
 * <p>Safe for many threads.
 */
public final class LlamaServerAdapter implements EngineAdapter {
  static final String ENGINE = EngineFlags.LLAMA_SERVER;

  /**
   * MiB that an engine may keep of idle prompts outside its slots. llama-server's own default is 8
   * GiB for each process.
   */
  static final int CACHE_RAM_MIB_DEFAULT = 256;

  private static final int MICRO_BATCH_DEFAULT = 512;

  private final LlamaServerInstallation installation;
  private volatile @Nullable Prepared prepared;
  private final GgufHeaders headers = new GgufHeaders();

  public LlamaServerAdapter(LlamaServerInstallation installation) {
    this.installation = installation;
  }

  private record Prepared(Binary binary) {}

  @Override
  public String engine() {
    return ENGINE;
  }

  @Override
  public ModelForm modelForm() {
    return ModelForm.GGUF;
  }

  @Override
  public boolean hasKey() {
    return true;
  }

  @Override
  public Optional<String> contradiction(WorkerSpec spec) {
    return Contradictions.first(spec)
        .or(() ->
            !spec.chat().template().isEmpty() && spec.args().containsKey("chat-template")
                ? Optional.of(
                    "args: chat-template contradicts the recipe's chat-template; leave one out.")
                : Optional.empty());
  }

  @Override
  public Optional<EngineFacts> found() {
    try {
      return installation
          .found()
          .map(binary -> new EngineFacts(ENGINE, binary.path(), binary.version()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  @Override
  public void prepare(WorkerSpec spec, ProgressListener progress)
      throws EngineUnavailable, InterruptedException {
    Binary binary = installation.ensure(progress);
    for (String arg : spec.args().keySet()) {
      if (flag(arg, binary).isEmpty()) {
        throw new EngineUnavailable(
            "args: %s is no option of %s (version %s)."
                .formatted(arg, binary.path(), binary.version()));
      }
    }
    prepared = new Prepared(binary);
  }

  @Override
  public boolean inherits(String variable) {
    // llama-server takes every option from LLAMA_ARG_… too, and a key from LLAMA_API_KEY.
    return !variable.startsWith("LLAMA_")
        && !variable.startsWith("FLOTILLA_")
        && !variable.equals("HF_TOKEN")
        && !variable.equals("XDG_CONFIG_HOME");
  }

  @Override
  public int longestTokenBytes(Path model) throws ModelRefused {
    return headers.header(model).longestTokenBytes();
  }

  @Override
  public MemoryNeed memoryNeed(WorkerSpec spec, Path model) throws ModelRefused {
    GgufHeader header = headers.header(model);
    GgufHeaders.checkContext(header, model, spec.contextTokens());
    try {
      CacheLayout layout = layout(spec);
      long weights = MemoryArithmetic.weightBytes(header);
      for (String extra : List.of("mmproj", "mm", "model-draft", "md", "lora")) {
        weights += fileBytes(spec.args().get(extra));
      }
      return new MemoryNeed(
          weights, MemoryArithmetic.cacheBytes(header, layout), working(header, spec, layout));
    } catch (GgufRefused e) {
      throw new ModelRefused(String.valueOf(e.getMessage()));
    } catch (NumberFormatException e) {
      throw new ModelRefused("args: a number is expected: " + e.getMessage());
    }
  }

  private static long fileBytes(@Nullable String file) {
    try {
      return file == null ? 0 : Files.size(Path.of(file));
    } catch (IOException | java.nio.file.InvalidPathException e) {
      return 0; // the engine says better what is wrong with it
    }
  }

  private static CacheLayout layout(WorkerSpec spec) throws ModelRefused {
    return new CacheLayout(
        spec.contextTokens(),
        spec.slots(),
        false,
        cacheType(spec, "cache-type-k", "ctk"),
        cacheType(spec, "cache-type-v", "ctv"),
        microBatch(spec),
        spec.args().containsKey("swa-full"));
  }

  private static TensorType cacheType(WorkerSpec spec, String name, String shortName)
      throws ModelRefused {
    String word = spec.args().getOrDefault(name, spec.args().getOrDefault(shortName, "f16"));
    return TensorType.named(word.toUpperCase(Locale.ROOT))
        .orElseThrow(() -> new ModelRefused("args: %s %s is no type".formatted(name, word)));
  }

  /**
   * A text to embed must fit one computation, so an embedding worker's is as large as its context.
   */
  private static int microBatch(WorkerSpec spec) {
    String given = spec.args().getOrDefault("ubatch-size", spec.args().get("ub"));
    if (given != null) {
      return Integer.parseInt(given.strip());
    }
    return spec.embeddings()
        ? Math.max(MICRO_BATCH_DEFAULT, spec.contextTokens())
        : MICRO_BATCH_DEFAULT;
  }

  /**
   * What no header tells: compute buffers, for which one row of logits and some rows of the hidden
   * state for every token of a batch is an upper bound in practice, the attention mask, the cache
   * of idle prompts, and the program itself.
   */
  private static long working(GgufHeader header, WorkerSpec spec, CacheLayout layout) {
    long program = 96L << 20;
    String cacheRam = spec.args().getOrDefault("cache-ram", spec.args().get("cram"));
    long idlePrompts =
        cacheRam == null ? CACHE_RAM_MIB_DEFAULT : Math.max(0, Long.parseLong(cacheRam.strip()));
    String architecture = header.architecture();
    long vocabulary =
        header
            .metadata()
            .count("tokenizer.ggml.tokens")
            .orElse(header.metadata().integer(architecture + ".vocab_size").orElse(0));
    long hidden = header.metadata().integer(architecture + ".embedding_length").orElse(0);
    long batch = layout.batchTokens();
    long compute = batch * (vocabulary + 16 * hidden) * Float.BYTES;
    long mask = batch * layout.contextTokens() * layout.slots() * Float.BYTES;
    return program + (idlePrompts << 20) + compute + mask;
  }

  @Override
  public LaunchCommand command(WorkerSpec spec, Path model, int port, int threads, Launch launch) {
    Prepared ready = prepared;
    if (ready == null) {
      throw new IllegalStateException("command before prepare");
    }
    Binary binary = ready.binary();
    List<String> line = new ArrayList<>(binary.program());
    add(line, "-m", model.toString());
    add(line, "--host", "127.0.0.1", "--port", String.valueOf(port), "--alias", spec.model());
    long context = Math.multiplyExact((long) spec.contextTokens(), spec.slots());
    add(line, "-c", String.valueOf(context), "-np", String.valueOf(spec.slots()));
    if (!spec.args().containsKey("threads") && !spec.args().containsKey("t")) {
      add(line, "--threads", String.valueOf(threads));
    }
    if (spec.embeddings()) {
      embeddings(line, spec, model);
    } else {
      add(line, "--jinja");
      reasoning(line, spec.reasoning(), binary);
      if (!spec.chat().template().isEmpty()) {
        add(line, "--chat-template-file", spec.chat().template());
      }
    }
    add(line, "--metrics");
    if (!spec.args().containsKey("cache-ram") && !spec.args().containsKey("cram")) {
      optional(line, binary, "--cache-ram", String.valueOf(CACHE_RAM_MIB_DEFAULT));
    }
    optional(line, binary, "--tags", LaunchProbe.tag(launch));
    if (binary.takes("--no-webui")) {
      add(line, "--no-webui");
    } else {
      optional(line, binary, "--no-ui");
    }
    optional(line, binary, "--log-colors", "off");
    optional(line, binary, "--offline");
    spec.args()
        .forEach((name, value) ->
            CommandLine.option(line, flag(name, binary).orElse("--" + name), value));
    return new LaunchCommand(
        line,
        Map.of(
            "LLAMA_API_KEY", launch.apiKey(),
            // Since August 2026 llama-server also reads options from a file below this folder.
            "XDG_CONFIG_HOME", launch.runDirectory().resolve("config").toString(),
            "FLOTILLA_PARENT", String.valueOf(ProcessHandle.current().pid())));
  }

  private void embeddings(List<String> line, WorkerSpec spec, Path model) {
    String batch = String.valueOf(microBatch(spec));
    add(line, "--embeddings");
    if (!namesPooling(model)) {
      add(line, "--pooling", "mean");
    }
    if (!spec.args().containsKey("batch-size") && !spec.args().containsKey("b")) {
      add(line, "-b", batch);
    }
    if (!spec.args().containsKey("ubatch-size") && !spec.args().containsKey("ub")) {
      add(line, "-ub", batch);
    }
  }

  /** Of a file that names none, llama-server makes no vectors unless it is told how. */
  private boolean namesPooling(Path model) {
    try {
      GgufHeader header = headers.header(model);
      String key = header.architecture() + ".pooling_type";
      return header.metadata().integer(key).orElse(0) != 0;
    } catch (ModelRefused unread) {
      return false; // The launch says why it can't be read.
    }
  }

  private static void reasoning(List<String> line, Reasoning reasoning, Binary binary) {
    switch (reasoning) {
      case INLINE -> add(line, "--reasoning-format", "none");
      // The hub names the field as the promise does.
      case REASONING_CONTENT, REASONING -> add(line, "--reasoning-format", "deepseek");
      case OFF -> {
        if (binary.takes("--reasoning")) {
          add(line, "--reasoning", "off");
        } else {
          add(line, "--reasoning-budget", "0");
        }
      }
    }
  }

  private static void add(List<String> line, String... words) {
    line.addAll(List.of(words));
  }

  private static void optional(List<String> line, Binary binary, String... words) {
    if (binary.takes(words[0])) {
      add(line, words);
    }
  }

  /** The option as the program spells it, long or short. */
  private static Optional<String> flag(String name, Binary binary) {
    return List.of("--" + name, "-" + name).stream().filter(binary::takes).findFirst();
  }

  @Override
  public Readiness probe(WorkerSpec spec, Path model, int port, Launch launch) {
    Readiness readiness = LaunchProbe.probe(spec, port, launch);
    Prepared ready = prepared;
    // The packaged server was built without a number.
    return readiness instanceof Readiness.Ready answer
            && ready != null
            && answer.engineBuild().startsWith("b0-")
        ? new Readiness.Ready(ready.binary().version(), answer.contextTokens(), answer.slots())
        : readiness;
  }

  @Override
  public String explainExit(int exitCode, List<String> lastLogLines) {
    return ExitReason.LLAMA_SERVER.explain(exitCode, lastLogLines);
  }
}
