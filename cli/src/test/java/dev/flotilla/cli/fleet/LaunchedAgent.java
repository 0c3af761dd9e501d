package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.update.LaunchFolder;
import dev.flotilla.cli.update.ReleaseFile;
import dev.flotilla.wire.ReleaseKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An agent of an unpacked release, started by its launcher as a user would. Its build is the one
 * that this test is of, under another name; so are the releases that are made of it.
 */
final class LaunchedAgent implements AutoCloseable {
  static final String OLD = "9.9.9+1.gold";
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Path home;
  private final Path output;
  private final Process launcher;

  private LaunchedAgent(Path home, Path output, Process launcher) {
    this.home = home;
    this.output = output;
    this.launcher = launcher;
  }

  /**
   * Starts one.
   *
   * @param home whose policy trusts the key
   * @param waitSeconds how long a new version has on trial
   */
  static LaunchedAgent start(
      Path folder, Path home, String hub, String token, ReleaseKey key, int waitSeconds)
      throws IOException {
    Path base = copyOfBuild(folder.resolve("base"), OLD);
    Files.createDirectories(home.resolve("agent"));
    Files.writeString(
        home.resolve("agent/policy.yaml"),
        """
        update: { keys: ["%s"] }
        engines: { llama-server: { install: true } }
        """
            .formatted(key.text()));
    Path output = Files.createTempFile(folder, "agent-", ".out");
    ProcessBuilder builder =
        new ProcessBuilder(
                base.resolve("flotilla").toString(),
                "agent",
                "--hub",
                hub,
                "--name",
                "box",
                "--home",
                home.toString())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder
        .environment()
        .putAll(
            Map.of(
                "FLOTILLA_TOKEN",
                token,
                "FLOTILLA_JAVA_HOME",
                System.getProperty("java.home"),
                "FLOTILLA_UPDATE_WAIT",
                "" + waitSeconds));
    return new LaunchedAgent(home, output, builder.start());
  }

  /** A release of the build under test, with another name and perhaps another launcher. */
  static ReleaseFile release(Path folder, String version, String launcher, String pem)
      throws IOException {
    Path copy = copyOfBuild(folder.resolve("of-" + version), version);
    if (!launcher.isEmpty()) {
      // What never runs need not be there.
      try (Stream<Path> jars = Files.list(copy.resolve("lib"))) {
        for (Path jar : jars.toList()) {
          Files.delete(jar);
        }
      }
      Files.delete(copy.resolve("flotilla"));
      Files.writeString(copy.resolve("flotilla"), launcher);
    }
    return ReleaseFile.make(new LaunchFolder(copy), pem, folder);
  }

  private static Path copyOfBuild(Path copy, String version) throws IOException {
    Path root = Path.of(System.getProperty("flotilla.root"));
    Files.createDirectories(copy.resolve("lib"));
    try (Stream<Path> jars = Files.list(root.resolve("cli/target/lib"))) {
      for (Path jar : jars.toList()) {
        Files.copy(jar, copy.resolve("lib").resolve(jar.getFileName()));
      }
    }
    Files.copy(root.resolve("cli/java.options"), copy.resolve("java.options"));
    Files.copy(root.resolve("flotilla"), copy.resolve("flotilla"));
    Files.setPosixFilePermissions(
        copy.resolve("flotilla"), PosixFilePermissions.fromString("rwxr-xr-x"));
    Files.writeString(copy.resolve("version"), version + "\n");
    return copy;
  }

  /** All that launcher and agents printed so far. */
  String output() throws IOException {
    return Files.readString(output);
  }

  /** What the link in its home names; {@code -} without one. */
  String current() throws IOException {
    Path link = home.resolve("versions/current");
    return Files.isSymbolicLink(link) ? Files.readSymbolicLink(link).toString() : "-";
  }

  /** The agent itself, and what it started. */
  List<ProcessHandle> processes() {
    return launcher.descendants().toList();
  }

  /** As Ctrl-C does; everything is gone then. */
  void stop() throws Exception {
    List<ProcessHandle> all = new ArrayList<>(processes());
    launcher.destroy();
    assertThat(launcher.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(output()).isTrue();
    await().atMost(LIMIT).until(() -> all.stream().noneMatch(ProcessHandle::isAlive));
  }

  /** The launcher alone, without a chance to say anything. */
  void killLauncher() {
    launcher.destroyForcibly();
  }

  @Override
  public void close() {
    List<ProcessHandle> all = processes();
    launcher.destroy();
    try {
      if (!launcher.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
        launcher.destroyForcibly();
      }
    } catch (InterruptedException e) {
      launcher.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    all.forEach(ProcessHandle::destroyForcibly);
  }
}
