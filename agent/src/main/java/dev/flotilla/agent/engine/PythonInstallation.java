package dev.flotilla.agent.engine;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.flotilla.agent.policy.Policy.EngineRule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Finds an engine that Python runs: the program that the policy names, else the one on the PATH,
 * else, where the agent can install it, the one in its home.
 *
 * <p>Such a program takes seconds to say its version, most of them for imports; what its
 * environment's folder says of the package is read instead. Safe for many threads.
 */
public final class PythonInstallation {
  /** mlx-lm; on Linux the computing part for processors is a package of its own. */
  private static final String MLX_VERSION = "0.32.2";

  private static final int FIRST_LINE_BYTES_MAX = 256;

  private final String engine;
  private final String program;
  private final String distribution;
  private final String advice;
  private final EngineRule rule;
  private final String searchPath;
  private final Optional<PackagedEngine> packaged;

  private PythonInstallation(
      String engine,
      String program,
      String distribution,
      String advice,
      EngineRule rule,
      String searchPath,
      Optional<PackagedEngine> packaged) {
    this.engine = engine;
    this.program = program;
    this.distribution = distribution;
    this.advice = advice;
    this.rule = rule;
    this.searchPath = searchPath;
    this.packaged = packaged;
  }

  /** vLLM is not installed by an agent: which build fits depends on drivers and the machine. */
  public static PythonInstallation vllm(EngineRule rule, String searchPath) {
    return new PythonInstallation(
        VllmAdapter.ENGINE,
        "vllm",
        "vllm",
        "install vLLM (docs.vllm.ai says which build fits your machine) so that 'vllm' is on the"
            + " PATH, or name the program with engines: vllm: { path: FILE }",
        rule,
        searchPath,
        Optional.empty());
  }

  /**
   * mlx-lm, which the agent can install.
   *
   * @param home the agent's home
   * @param linux whether this is Linux, not macOS
   */
  public static PythonInstallation mlxLm(
      Path home, EngineRule rule, String searchPath, boolean linux) {
    PackagedEngine.PinnedPackage what =
        new PackagedEngine.PinnedPackage(
            MlxLmAdapter.ENGINE,
            "mlx-lm-" + MLX_VERSION,
            (linux ? "mlx-lm[cpu]==" : "mlx-lm==") + MLX_VERSION,
            false,
            "mlx_lm_launcher.py",
            List.of("--help"),
            11,
            1L << 30);
    return new PythonInstallation(
        MlxLmAdapter.ENGINE,
        "mlx_lm.server",
        "mlx_lm",
        "install it ('pip install mlx-lm') so that 'mlx_lm.server' is on the PATH, or set engines:"
            + " mlx-lm: { install: true } (or path: FILE)",
        rule,
        searchPath,
        Optional.of(new PackagedEngine(what, home.toAbsolutePath().normalize(), searchPath)));
  }

  /**
   * A program.
   *
   * @param program what is started, and what stands before the engine's own options
   * @param file the file that says which program it is, for people
   * @param version the package's, empty where it is not known
   */
  record Found(List<String> program, String file, String version) {}

  /** The program that would be started now, without installing anything. */
  Optional<Found> found() {
    if (rule.path().isPresent()) {
      Path named = rule.path().get();
      return Files.isExecutable(named) && !Files.isDirectory(named)
          ? Optional.of(script(named))
          : Optional.empty();
    }
    List<Path> programs = LlamaServerInstallation.programs(searchPath, program);
    if (!programs.isEmpty()) {
      return Optional.of(script(programs.getFirst()));
    }
    return packaged.flatMap(
        own -> own.program().map(line -> new Found(line, line.getFirst(), version(own.folder()))));
  }

  /**
   * The program to start, installed first where it is missing and may be.
   *
   * @throws EngineUnavailable with the way to get one
   */
  Found ensure(ProgressListener progress) throws EngineUnavailable, InterruptedException {
    Optional<Found> found = found();
    if (found.isPresent()) {
      return found.get();
    }
    if (rule.path().isPresent()) {
      throw new EngineUnavailable(
          "The policy names the %s %s, which is no program that can be started; correct engines: %s: path."
              .formatted(engine, rule.path().get(), engine));
    }
    if (packaged.isEmpty() || !rule.install()) {
      throw new EngineUnavailable(
          "No %s is on the PATH%s: %s in the agent's policy.yaml."
              .formatted(
                  engine,
                  packaged.isEmpty() ? "" : ", and the policy does not allow to install it",
                  advice));
    }
    packaged.get().install(progress);
    return found()
        .orElseThrow(() ->
            new EngineUnavailable(
                "%s was installed under %s and is not there; remove that folder to have it installed again."
                    .formatted(engine, packaged.get().folder())));
  }

  /** A script of a Python environment lies in its {@code bin}; links to it are followed. */
  private Found script(Path script) {
    Path environment = script;
    try {
      Path bin = script.toRealPath().getParent();
      environment = bin == null || bin.getParent() == null ? script : bin.getParent();
    } catch (IOException e) {
      // It is started as it is named; only its version stays unknown.
    }
    List<String> line =
        interpreter(script)
            .flatMap(python -> packaged.flatMap(own -> own.launchedBy(python)))
            .orElse(List.of(script.toString()));
    return new Found(line, script.toString(), version(environment));
  }

  /** The Python that runs a script, by its first line; none where that says something else. */
  private static Optional<Path> interpreter(Path script) {
    byte[] begin;
    try (InputStream in = Files.newInputStream(script)) {
      begin = in.readNBytes(FIRST_LINE_BYTES_MAX);
    } catch (IOException e) {
      return Optional.empty();
    }
    String first = new String(begin, ISO_8859_1).lines().findFirst().orElse("");
    if (!first.startsWith("#!/") || first.contains(" ")) {
      return Optional.empty();
    }
    Path python = Path.of(first.substring(2));
    return String.valueOf(python.getFileName()).startsWith("python") && Files.isExecutable(python)
        ? Optional.of(python)
        : Optional.empty();
  }

  /** From the name of {@code lib/python3.*\/site-packages/NAME-VERSION.dist-info}. */
  private String version(Path environment) {
    try (DirectoryStream<Path> libraries =
        Files.newDirectoryStream(environment.resolve("lib"), "python3*")) {
      for (Path library : libraries) {
        Optional<String> version = version(library.resolve("site-packages"), distribution);
        if (version.isPresent()) {
          return version.get();
        }
      }
    } catch (IOException e) {
      // Not an environment of Python's.
    }
    return "";
  }

  private static Optional<String> version(Path packages, String name) throws IOException {
    if (!Files.isDirectory(packages)) {
      return Optional.empty();
    }
    try (DirectoryStream<Path> found = Files.newDirectoryStream(packages, name + "-*.dist-info")) {
      for (Path info : found) {
        String folder = String.valueOf(info.getFileName());
        return Optional.of(
            folder.substring(name.length() + 1, folder.length() - ".dist-info".length()));
      }
    }
    return Optional.empty();
  }
}
