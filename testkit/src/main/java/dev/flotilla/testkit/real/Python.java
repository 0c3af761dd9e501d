package dev.flotilla.testkit.real;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A Python environment with pinned packages, made once and kept in the {@linkplain Needs#cache()
 * tests' cache}. Runs of several builds may ask for the same one at a time: one of them makes it,
 * under a lock, and a mark says that it is whole.
 */
public final class Python {
  private static final List<String> PROGRAMS =
      List.of("python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10");
  private static final int OLDEST_MINOR = 10;
  private static final Duration QUESTION_LIMIT = Duration.ofSeconds(30);
  private static final Duration INSTALLATION_LIMIT = Duration.ofMinutes(15);

  /** A package that is small and has no dependencies, to ask the index for. */
  private static final String ANY_PACKAGE = "sniffio==1.3.1";

  private final Path program;

  private Python(Path program) {
    this.program = program;
  }

  /** What a program came to: its exit code, and all that it wrote. */
  public record Ended(int exitCode, String output) {
    String lastLine() {
      return output.strip().lines().reduce("", (before, line) -> line);
    }
  }

  /**
   * The environment of that name with these packages ({@code openai==3.57.0}). The test that asks
   * is skipped, as {@link Needs} says, where no Python is found or pip can't install them.
   */
  public static Python with(String name, List<String> packages) {
    return made(name, OLDEST_MINOR, python -> python.install(packages));
  }

  /** Fills an environment that was just made; what it can't do it tells {@link Needs}. */
  @FunctionalInterface
  interface Making {
    void fill(Python environment) throws IOException;
  }

  /**
   * The environment of that name, filled in steps of the caller's.
   *
   * @param oldestMinor the oldest Python that will do: 11 for Python 3.11
   */
  static Python made(String name, int oldestMinor, Making making) {
    try {
      Path folder = Files.createDirectories(Needs.cache().resolve("python")).resolve(name);
      Path mark = folder.resolve("whole");
      try (CacheLock lock = CacheLock.of(folder.resolveSibling(name + ".lock"))) {
        if (!lock.held() || !Files.exists(mark)) {
          making.fill(empty(folder, oldestMinor));
          Files.createFile(mark);
        }
      }
      return new Python(folder.resolve("bin").resolve("python"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Python empty(Path folder, int oldestMinor) throws IOException {
    Optional<String> found = found(oldestMinor);
    Needs.that(found.isPresent(), "Python 3." + oldestMinor + " or newer on the PATH");
    Ended made =
        run(
            List.of(found.orElseThrow(), "-m", "venv", "--clear", folder.toString()),
            Map.of(),
            INSTALLATION_LIMIT);
    Needs.that(
        made.exitCode() == 0,
        "Python environment (Debian: apt install python3-venv): " + made.lastLine());
    return new Python(folder.resolve("bin").resolve("python"));
  }

  /** Installs packages, and what else pip is to be told. */
  void install(List<String> packages) throws IOException {
    List<String> install = new ArrayList<>(List.of(program.toString(), "-m", "pip", "install"));
    install.addAll(List.of("--quiet", "--disable-pip-version-check", "--no-input"));
    install.addAll(packages);
    Ended installed = run(install, Map.of(), INSTALLATION_LIMIT);
    Needs.that(
        installed.exitCode() == 0,
        "Python package " + String.join(", ", packages) + ": " + installed.lastLine());
  }

  /** The folder of the environment's programs; {@code python} is one of them. */
  Path programs() {
    return program.resolveSibling("");
  }

  /** Runs a program of the environment, such as {@code python}, with its arguments. */
  Ended run(List<String> arguments, Duration limit) throws IOException {
    List<String> command = new ArrayList<>(arguments);
    command.set(0, programs().resolve(arguments.getFirst()).toString());
    return run(command, Map.of(), limit);
  }

  /** Runs a script; what it writes to both its outputs comes back when it has ended. */
  public Ended run(Path script, Map<String, String> environment, Duration limit) {
    try {
      return run(List.of(program.toString(), script.toString()), environment, limit);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Why pip finds no package from here; empty where it does. Asked once. */
  static Optional<String> whyNoIndex() {
    return Index.WHY_NONE;
  }

  /** Initialised when the first test asks. */
  private static final class Index {
    static final Optional<String> WHY_NONE = askIndex();
  }

  private static Optional<String> askIndex() {
    List<String> question = new ArrayList<>(List.of("python3", "-m", "pip", "install", "--quiet"));
    question.addAll(List.of("--disable-pip-version-check", "--no-input", "--dry-run", "--no-deps"));
    question.addAll(List.of("--ignore-installed", "--target", "never-written"));
    question.addAll(List.of("--retries", "0", "--timeout", "10", ANY_PACKAGE));
    try {
      Ended ended = run(question, Map.of(), QUESTION_LIMIT);
      return ended.exitCode() == 0
          ? Optional.empty()
          : Optional.of("package index that python3's pip can ask: " + ended.lastLine());
    } catch (IOException e) {
      return Optional.of("python3 on the PATH, with pip: " + e.getMessage());
    }
  }

  private static Optional<String> found(int oldestMinor) {
    String newEnough = "import sys; sys.exit(sys.version_info < (3, " + oldestMinor + "))";
    return PROGRAMS.stream()
        .filter(program -> {
          try {
            return run(List.of(program, "-c", newEnough), Map.of(), QUESTION_LIMIT).exitCode() == 0;
          } catch (IOException e) {
            return false;
          }
        })
        .findFirst();
  }

  private static Ended run(List<String> command, Map<String, String> environment, Duration limit)
      throws IOException {
    Path output = Files.createTempFile("python-", ".out");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      process.getOutputStream().close();
      if (!process.waitFor(limit.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
        return new Ended(-1, Files.readString(output) + "\nnot done after " + limit);
      }
      return new Ended(process.exitValue(), Files.readString(output));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      Files.delete(output);
    }
  }
}
