package dev.flotilla.cli.fleet;

import dev.flotilla.cli.Main;
import dev.flotilla.testkit.real.ProcessTree;
import dev.flotilla.wire.process.Execute;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code flotilla agent} as a process that becomes another run of itself, by {@code execv}, as soon
 * as it is told to. What would have ended its engines is killed before, so that they survive.
 */
final class ReExecutedAgent implements AutoCloseable {
  private static final Duration END_LIMIT = Duration.ofSeconds(60);

  private final Process process;
  private final Path output;
  private final ProcessTree tree;

  private ReExecutedAgent(Process process, Path output) {
    this.process = process;
    this.output = output;
    this.tree = new ProcessTree(process, END_LIMIT);
  }

  /** Starts one that is called {@code box}. */
  static ReExecutedAgent start(Path folder, Path home, String hub, String token)
      throws IOException {
    List<String> command =
        command(
            List.of(
                "agent",
                "--hub",
                hub,
                "--name",
                "box",
                "--install-engine",
                "--home",
                home.toString()));
    Path output = Files.createTempFile(folder, "agent-", ".out");
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
    builder.environment().putAll(Map.of("FLOTILLA_TOKEN", token));
    return new ReExecutedAgent(builder.start(), output);
  }

  private static List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // As the launcher does it; they allow the call of execv.
    command.add("@" + Path.of(System.getProperty("flotilla.root"), "cli/java.options"));
    command.add("-Dflotilla.root=" + System.getProperty("flotilla.root"));
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(ReExecutedAgent.class.getName());
    command.addAll(arguments);
    return command;
  }

  /** The process reads it, and becomes another. */
  void becomeAnother() throws IOException {
    tree.started();
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** All that both runs printed so far. */
  String output() throws IOException {
    return Files.readString(output);
  }

  @Override
  public void close() {
    tree.close();
  }

  public static void main(String[] arguments) {
    List<String> words = List.of(arguments);
    Thread.ofPlatform().daemon().start(() -> becomeAnother(words));
    Main.main(arguments);
  }

  private static void becomeAnother(List<String> arguments) {
    try {
      if (System.in.read() == '\n') {
        killGuard();
        Execute.command(command(arguments));
      }
    } catch (Throwable e) {
      throw new IllegalStateException("the agent did not become another", e);
    }
  }

  /** The shell that would kill the engines. */
  private static void killGuard() {
    ProcessHandle.current()
        .children()
        .filter(child -> child.info().commandLine().orElse("").contains("trap '' INT HUP TERM"))
        .forEach(guard -> {
          guard.destroyForcibly();
          guard.onExit().join();
        });
  }
}
