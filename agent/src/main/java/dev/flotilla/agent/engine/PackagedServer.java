package dev.flotilla.agent.engine;

import dev.flotilla.agent.node.BoundedProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * llama.cpp's own server from a pinned Python package, in a Python environment of its own under
 * {@code HOME/engines}, started through a launcher of ours that takes llama-server's options.
 *
 * <p>Invariants: the folder {@code xllamacpp-VERSION} exists only whole, because it is made under
 * another name, tried, and then renamed; whoever makes it holds the lock of {@code engines/.lock},
 * which the operating system gives back when its holder dies; what an installation that was
 * interrupted left behind is removed by the next one.
 */
final class PackagedServer {
  static final String VERSION = "2026.10.11549";

  private static final String PACKAGE = "xllamacpp==" + VERSION;
  private static final String SUBJECT = "llama-server";
  private static final String LAUNCHER = "llama_server_launcher.py";
  private static final int PYTHON_MINOR_MIN = 10;
  private static final int PYTHON_MINOR_TRIED_MAX = 15;

  /** Environment, wheel and its contents take about 250 MB. */
  private static final long DISK_BYTES_MIN = 512L << 20;

  private static final Duration INSTALL_WITHIN = Duration.ofMinutes(20);
  private static final Duration TURN_WITHIN = Duration.ofMinutes(25);
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);
  private static final Duration PYTHON_ANSWERS_WITHIN = Duration.ofSeconds(20);

  /** A file lock is the whole JVM's, so the threads of this one take turns first. */
  private static final ReentrantLock TURN = new ReentrantLock();

  private final Path engines;
  private final String searchPath;

  PackagedServer(Path home, String searchPath) {
    this.engines = home.resolve("engines");
    this.searchPath = searchPath;
  }

  Path folder() {
    return engines.resolve("xllamacpp-" + VERSION);
  }

  /** The program and its first arguments, where it is installed. */
  Optional<List<String>> program() {
    if (!Files.isDirectory(folder())) {
      return Optional.empty();
    }
    try {
      writeLauncher(folder());
      return Optional.of(command(folder()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** {@code -I}: nothing of the user's own Python set-up takes part. */
  private static List<String> command(Path folder) {
    return List.of(
        folder.resolve("bin").resolve("python").toString(),
        "-I",
        folder.resolve(LAUNCHER).toString());
  }

  /**
   * Installs it, where it is not there by the time it is this thread's turn.
   *
   * @throws EngineUnavailable where something is missing or fails, with the last lines of what
   *     failed
   */
  void install(ProgressListener progress) throws EngineUnavailable, InterruptedException {
    long deadline = System.nanoTime() + TURN_WITHIN.toNanos();
    // Of a wait for another thread of this agent nothing is said: that thread itself tells how far
    // it is, to the same listeners.
    while (!TURN.tryLock(LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS)) {
      inTime(deadline);
    }
    try {
      Files.createDirectories(engines);
      try (FileChannel lock = lock(deadline, progress)) {
        if (lock.isOpen() && !Files.isDirectory(folder())) {
          installAlone(progress);
        }
      }
      progress.progress(SUBJECT, "installed", 0, -1, true);
    } catch (IOException e) {
      throw new EngineUnavailable(
          "llama-server can't be installed under %s: %s".formatted(engines, e.getMessage()));
    } finally {
      TURN.unlock();
    }
  }

  private FileChannel lock(long deadline, ProgressListener progress)
      throws IOException, EngineUnavailable, InterruptedException {
    FileChannel channel =
        FileChannel.open(
            engines.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    FileLock lock = null;
    try {
      while ((lock = channel.tryLock()) == null) {
        inTime(deadline);
        progress.progress(SUBJECT, "waiting for another agent that installs it", 0, -1, false);
        Thread.sleep(LOOK_EVERY);
      }
      return channel;
    } finally {
      if (lock == null) {
        channel.close();
      }
    }
  }

  private void inTime(long deadline) throws EngineUnavailable {
    if (System.nanoTime() - deadline > 0) {
      throw new EngineUnavailable(
          "Another agent has been installing llama-server under %s for more than %d minutes; end it."
              .formatted(engines, TURN_WITHIN.toMinutes()));
    }
  }

  private void installAlone(ProgressListener progress)
      throws IOException, EngineUnavailable, InterruptedException {
    removeLeftovers();
    long free = Files.getFileStore(engines).getUsableSpace();
    if (free < DISK_BYTES_MIN) {
      throw new EngineUnavailable(
          "llama-server takes up to %d MiB on disk, and %s has %d MiB free."
              .formatted(DISK_BYTES_MIN >> 20, engines, free >> 20));
    }
    Path python = python();
    Path part = Files.createTempDirectory(engines, folder().getFileName() + ".part-");
    try {
      progress.progress(SUBJECT, "making a Python environment with " + python, 0, -1, false);
      InstallStep venv =
          InstallStep.start(List.of(python.toString(), "-m", "venv", part.toString()), part);
      if (venv.await(INSTALL_WITHIN, said -> {}) != 0) {
        throw new EngineUnavailable(venvFailed(python, venv.lastLines()));
      }
      fetch(part, progress);
      writeLauncher(part);
      progress.progress(SUBJECT, "trying it", 0, -1, false);
      List<String> command = new ArrayList<>(command(part));
      command.add("--version");
      InstallStep trial = InstallStep.start(command, part);
      if (trial.await(INSTALL_WITHIN, said -> {}) != 0) {
        throw new EngineUnavailable(
            "The package %s was fetched and does not run on this machine: %s"
                .formatted(PACKAGE, trial.lastLines()));
      }
      Files.move(part, folder(), StandardCopyOption.ATOMIC_MOVE);
    } finally {
      removeTree(part);
    }
  }

  private void fetch(Path part, ProgressListener progress)
      throws IOException, EngineUnavailable, InterruptedException {
    // pip loads into its temporary folder, so that folder's size is how far it is.
    Path temporary = Files.createDirectories(part.resolve("tmp"));
    List<String> pip = new ArrayList<>();
    pip.addAll(List.of(part.resolve("bin").resolve("python").toString(), "-m", "pip", "install"));
    pip.addAll(List.of("--disable-pip-version-check", "--no-input", "--progress-bar", "off"));
    pip.addAll(List.of("--no-deps", "--only-binary", ":all:", PACKAGE));
    progress.progress(SUBJECT, "fetching " + PACKAGE, 0, -1, false);
    InstallStep step = InstallStep.start(pip, temporary);
    int exit =
        step.await(
            INSTALL_WITHIN,
            said ->
                progress.progress(
                    SUBJECT, "fetching " + PACKAGE, InstallStep.bytesUnder(temporary), -1, false));
    if (exit != 0) {
      throw new EngineUnavailable(
          "pip could not install %s (exit code %d): %s".formatted(PACKAGE, exit, step.lastLines()));
    }
    removeTree(temporary);
  }

  private static String venvFailed(Path python, String lastLines) {
    boolean missing = lastLines.contains("ensurepip") || lastLines.contains("No module named venv");
    return missing
        ? python
            + " can't make environments: install the missing part (Debian, Ubuntu:"
            + " 'apt install python3-venv') and start again."
        : python + " could not make an environment: " + lastLines;
  }

  private Path python() throws EngineUnavailable, InterruptedException {
    List<String> names = new ArrayList<>(List.of("python3"));
    for (int minor = PYTHON_MINOR_TRIED_MAX; minor >= PYTHON_MINOR_MIN; minor--) {
      names.add("python3." + minor);
    }
    names.add("python");
    String older = "";
    for (String name : names) {
      for (Path candidate : LlamaServerInstallation.programs(searchPath, name)) {
        String version = pythonVersion(candidate);
        if (newEnough(version)) {
          return candidate;
        }
        older = version.isEmpty() || !older.isEmpty() ? older : candidate + " is " + version;
      }
    }
    throw new EngineUnavailable(
        "llama-server needs Python 3.%d or newer to be installed, and %s; install it (Debian: 'apt"
                .formatted(PYTHON_MINOR_MIN, older.isEmpty() ? "none is on the PATH" : older)
            + " install python3 python3-venv', Fedora: 'dnf install python3', macOS: 'brew install"
            + " python'), or name a llama-server under engines in the agent's policy.yaml.");
  }

  private static String pythonVersion(Path python) throws InterruptedException {
    List<String> command =
        List.of(python.toString(), "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])");
    try {
      return BoundedProcess.run(command, PYTHON_ANSWERS_WITHIN)
          .filter(finished -> finished.exitCode() == 0)
          .map(finished -> finished.output().strip())
          .orElse("");
    } catch (IOException e) {
      return "";
    }
  }

  private static boolean newEnough(String version) {
    return version.matches("3\\.\\d{1,3}")
        && Integer.parseInt(version.substring(2)) >= PYTHON_MINOR_MIN;
  }

  /** The launcher belongs to this version of the agent, so it is written again where it differs. */
  private static void writeLauncher(Path folder) throws IOException {
    byte[] wanted;
    try (InputStream resource = PackagedServer.class.getResourceAsStream(LAUNCHER)) {
      if (resource == null) {
        throw new IOException(LAUNCHER + " is missing in the agent's own files");
      }
      wanted = resource.readAllBytes();
    }
    Path launcher = folder.resolve(LAUNCHER);
    if (Files.exists(launcher) && Arrays.equals(Files.readAllBytes(launcher), wanted)) {
      return;
    }
    Path fresh = Files.createTempFile(folder, LAUNCHER, ".new");
    Files.write(fresh, wanted);
    Files.move(
        fresh, launcher, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private void removeLeftovers() throws IOException {
    List<Path> leftovers = new ArrayList<>();
    try (var files = Files.newDirectoryStream(engines, folder().getFileName() + ".part-*")) {
      files.forEach(leftovers::add);
    }
    for (Path leftover : leftovers) {
      removeTree(leftover);
    }
  }

  private static void removeTree(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    List<Path> files;
    try (Stream<Path> tree = Files.walk(folder)) {
      files = tree.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
  }
}
