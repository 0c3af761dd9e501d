package dev.flotilla.agent.process;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Starts a process: the one effect of the supervisor that tests replace. */
@FunctionalInterface
public interface ProcessStarter {

  /**
   * Starts the process with its errors merged into its output.
   *
   * @param environment the whole environment
   */
  Process start(List<String> command, Map<String, String> environment, Path directory)
      throws IOException;

  /**
   * Starts each process in a session of its own: Ctrl-C in the agent's terminal then reaches the
   * agent alone, which ends its engines in order, and what an engine started can be ended with it
   * as one group. {@code setsid} does it, and where there is none (macOS) {@code perl}; both
   * replace themselves by the program, so the process id is the engine's. A machine with neither
   * starts them in the agent's own session.
   */
  static ProcessStarter inOwnSession() {
    return leading(sessionLeader(System.getenv().getOrDefault("PATH", "")));
  }

  /** What makes the program behind it the leader of a session; nothing where there is no means. */
  static List<String> sessionLeader(String searchPath) {
    Optional<String> setsid = onPath(searchPath, "setsid");
    if (setsid.isPresent()) {
      return List.of(setsid.get());
    }
    return onPath(searchPath, "perl")
        .map(perl ->
            List.of(
                perl, "-MPOSIX=setsid", "-e", "setsid(); exec {$ARGV[0]} @ARGV or die $!", "--"))
        .orElse(List.of());
  }

  private static Optional<String> onPath(String searchPath, String program) {
    return Arrays.stream(searchPath.split(File.pathSeparator, -1))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst();
  }

  /**
   * Starts each process behind these words.
   *
   * @param leader program and arguments that end in the command
   */
  static ProcessStarter leading(List<String> leader) {
    return (command, environment, directory) -> {
      List<String> line = new ArrayList<>(leader);
      line.addAll(command);
      ProcessBuilder builder =
          new ProcessBuilder(line).directory(directory.toFile()).redirectErrorStream(true);
      builder.environment().clear();
      builder.environment().putAll(environment);
      return builder.start();
    };
  }

  /**
   * Starts each process as {@link #inOwnSession} does, on these processors alone; its children
   * inherit that.
   *
   * @param taskset the program that binds a process to processors, and replaces itself by it
   * @param cores as {@code taskset --cpu-list} takes them, such as {@code 0} or {@code 2-3}
   */
  static ProcessStarter onCores(Path taskset, String cores) {
    ProcessStarter starter = inOwnSession();
    return (command, environment, directory) -> {
      List<String> line = new ArrayList<>(List.of(taskset.toString(), "-c", cores));
      line.addAll(command);
      return starter.start(line, environment, directory);
    };
  }
}
