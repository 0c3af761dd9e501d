package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.cli.update.LaunchFolder;
import dev.flotilla.cli.update.ReleaseFile;
import dev.flotilla.testkit.real.ProcessTree;
import dev.flotilla.wire.release.ReleaseKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * An agent of an unpacked release, started by its launcher as a user would. Its build is the one
 * that this test is of, under another name; so are the releases that are made of it.
 */
final class LaunchedAgent implements AutoCloseable {
  /** What it is called, newer than any build. */
  static final String OLD = "9.9.9+1.gold";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Path home;
  private final Path output;
  private final Process launcher;
  private final ProcessTree tree;

  private LaunchedAgent(Path home, Path output, Process launcher) {
    this.home = home;
    this.output = output;
    this.launcher = launcher;
    this.tree = new ProcessTree(launcher, LIMIT);
  }

  /**
   * Starts one that is called {@code box}.
   *
   * @param folder for what belongs to no home
   * @param home where its policy is written, which trusts the key
   * @param waitSeconds how long a new version has on trial
   */
  static LaunchedAgent start(
      Path folder, Path home, String hub, String token, ReleaseKey key, int waitSeconds)
      throws IOException {
    Path unpacked = folder.resolve("unpacked");
    copyLauncher(unpacked, OLD);
    copyJars(unpacked);
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
                unpacked.resolve("flotilla").toString(),
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

  /** The build as a release of that version. */
  static ReleaseFile release(Path folder, String version, ReleaseKey.Pair signer)
      throws IOException {
    Path build = folder.resolve("of-" + version);
    copyLauncher(build, version);
    copyJars(build);
    return ReleaseFile.make(new LaunchFolder(build), signer.privatePem(), folder);
  }

  /** A release of that version whose launcher is this script, so that nothing else of it runs. */
  static ReleaseFile release(Path folder, String version, String script, ReleaseKey.Pair signer)
      throws IOException {
    Path build = folder.resolve("of-" + version);
    copyLauncher(build, version);
    Files.writeString(build.resolve("flotilla"), "#!/usr/bin/env bash\n" + script);
    return ReleaseFile.make(new LaunchFolder(build), signer.privatePem(), folder);
  }

  private static void copyLauncher(Path copy, String version) throws IOException {
    Path root = Path.of(System.getProperty("flotilla.root"));
    Files.createDirectories(copy.resolve("lib"));
    for (String file :
        List.of(
            "flotilla",
            "cli/java.options",
            "agent/src/main/resources/dev/flotilla/agent/engine/builtin.options")) {
      Path source = root.resolve(file);
      Files.copy(source, copy.resolve(source.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
    }
    Files.writeString(copy.resolve("version"), version + "\n");
  }

  private static void copyJars(Path copy) throws IOException {
    Path lib = Path.of(System.getProperty("flotilla.root"), "cli/target/lib");
    try (Stream<Path> jars = Files.list(lib)) {
      for (Path jar : jars.toList()) {
        Files.copy(jar, copy.resolve("lib").resolve(jar.getFileName()));
      }
    }
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
  private List<ProcessHandle> running() {
    return tree.started().stream().filter(ProcessHandle::isAlive).toList();
  }

  /** As Ctrl-C does; everything is gone then. */
  void stop() throws Exception {
    List<ProcessHandle> all = running();
    launcher.destroy();
    assertThat(launcher.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as(output()).isTrue();
    awaitEnd(all);
  }

  /** The launcher alone, without a chance to say anything; what it had started follows it. */
  void killLauncher() {
    List<ProcessHandle> all = running();
    assertThat(all).isNotEmpty();
    launcher.destroyForcibly();
    awaitEnd(all);
  }

  private static void awaitEnd(List<ProcessHandle> processes) {
    await().atMost(LIMIT).until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
  }

  @Override
  public void close() {
    tree.close();
  }
}
