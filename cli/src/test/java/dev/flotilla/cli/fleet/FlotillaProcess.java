package dev.flotilla.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.testkit.real.ProcessTree;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One {@code flotilla} command as a process of its own, as a user starts it. */
public final class FlotillaProcess implements AutoCloseable {
  private static final Duration END_LIMIT = Duration.ofSeconds(30);

  /** What Ctrl-C sends to a terminal. */
  private static final int INTERRUPT = 3;

  private final Process process;
  private final Path output;
  private final boolean onTerminal;
  private final ProcessTree tree;

  private FlotillaProcess(Process process, Path output, boolean onTerminal) {
    this.process = process;
    this.output = output;
    this.onTerminal = onTerminal;
    this.tree = new ProcessTree(process, END_LIMIT);
  }

  /** Starts it; what it prints goes to a file. */
  public static FlotillaProcess start(
      Path folder, Map<String, String> environment, String... arguments) {
    return start(folder, environment, List.of(), arguments);
  }

  /** Starts it on a terminal of its own, whose keys {@link #pressCtrlC} presses. */
  static FlotillaProcess startOnTerminal(Path folder, String... arguments) {
    URL script = FlotillaProcess.class.getResource("terminal.py");
    assertThat(script).isNotNull();
    return start(folder, Map.of(), List.of("python3", script.getPath()), arguments);
  }

  private static FlotillaProcess start(
      Path folder, Map<String, String> environment, List<String> through, String... arguments) {
    try {
      List<String> command = new ArrayList<>(through);
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      command.addAll(javaOptions(arguments[0].equals("serve")));
      command.add("dev.flotilla.cli.Main");
      command.addAll(List.of(arguments));
      Path output = Files.createTempFile(folder, arguments[0] + "-", ".out");
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
      builder.environment().putAll(environment);
      return new FlotillaProcess(builder.start(), output, !through.isEmpty());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The packaged build with its AOT caches, as the launcher runs it. */
  private static List<String> javaOptions(boolean engine) {
    Path root = Path.of(System.getProperty("flotilla.root"));
    Path target = root.resolve("cli/target");
    Path jar = target.resolve("lib/flotilla-cli.jar");
    assertThat(jar).as("made by 'mvn package', which 'mvn verify' begins with").exists();
    Path options =
        root.resolve(
            engine
                ? "agent/src/main/resources/dev/flotilla/agent/engine/builtin.options"
                : "cli/java.options");
    List<String> words = new ArrayList<>(List.of("@" + options));
    Path cache = target.resolve(engine ? "engine.aot" : "flotilla.aot");
    if (Files.exists(cache)) {
      words.addAll(List.of("-XX:AOTCache=" + cache, "-Xlog:aot*=off", "-Xlog:cds*=off"));
    }
    words.addAll(List.of("-cp", jar.toString()));
    return words;
  }

  /** Its process id. */
  public long pid() {
    return onTerminal ? process.children().findFirst().orElseThrow().pid() : process.pid();
  }

  void pressCtrlC() {
    try {
      process.getOutputStream().write(INTERRUPT);
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether it runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** All that it printed so far. */
  public String output() {
    try {
      return Files.readString(output);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until it has printed the text. */
  public FlotillaProcess says(String text, Duration limit) {
    await()
        .atMost(limit)
        .pollInterval(Duration.ofMillis(100))
        .untilAsserted(() -> {
          String said = output();
          assertThat(said).contains(text);
        });
    return this;
  }

  /** What it has started, and what those have. */
  public List<ProcessHandle> children() {
    return tree.started();
  }

  /** As Ctrl-C or a service manager does; the exit code. */
  public int stop() throws InterruptedException {
    process.destroy();
    assertThat(process.waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS))
        .as("ended within %s:%n%s", END_LIMIT, output())
        .isTrue();
    return process.exitValue();
  }

  /** Without a chance to clean up. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor(END_LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
  }

  /** Waits for its own end; the exit code. */
  int exitCode(Duration limit) throws InterruptedException {
    assertThat(process.waitFor(limit.toSeconds(), TimeUnit.SECONDS))
        .as("ended within %s:%n%s", limit, output())
        .isTrue();
    return process.exitValue();
  }

  @Override
  public void close() {
    tree.close();
  }
}
