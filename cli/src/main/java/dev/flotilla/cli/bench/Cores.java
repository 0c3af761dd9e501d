package dev.flotilla.cli.bench;

import dev.flotilla.agent.process.ProcessStarter;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Binding engines to processors, where the machine can: Linux with {@code taskset}. */
final class Cores {
  /** Processors that are looked at at most. */
  private static final int CORES_MAX = 4096;

  private static final Pattern LIST =
      Pattern.compile("\\d{1,4}(-\\d{1,4})?(,\\d{1,4}(-\\d{1,4})?)*");
  private static final Path STATUS = Path.of("/proc/self/status");

  private final Optional<Path> taskset;

  private Cores(Optional<Path> taskset) {
    this.taskset = taskset;
  }

  /** With the {@code taskset} of this search path. */
  static Cores of(String searchPath) {
    return new Cores(
        Arrays.stream(searchPath.split(File.pathSeparator, -1))
            .filter(folder -> !folder.isEmpty())
            .map(folder -> Path.of(folder, "taskset"))
            .filter(Files::isExecutable)
            .findFirst());
  }

  /** Why no engine can be bound here; empty where one can. */
  Optional<String> whyNot() {
    return taskset.isPresent()
        ? Optional.empty()
        : Optional.of("binding to processors needs taskset (Linux), and it is not on the PATH");
  }

  /**
   * What starts a process on those processors alone.
   *
   * @throws IOException where that can't be done here
   */
  ProcessStarter starter(Optional<String> cores) throws IOException {
    if (cores.isEmpty()) {
      return ProcessStarter.inOwnSession();
    }
    Path program = taskset.orElseThrow(() -> new IOException(whyNot().orElseThrow()));
    return ProcessStarter.onCores(program, cores.get());
  }

  /** The processors that this process may use, rising; empty where the system does not say. */
  List<Integer> allowed() {
    try {
      for (String line : Files.readAllLines(STATUS, StandardCharsets.ISO_8859_1)) {
        if (line.startsWith("Cpus_allowed_list:")) {
          return numbers(line.substring("Cpus_allowed_list:".length()).strip());
        }
      }
    } catch (IOException e) {
      // No Linux.
    }
    return List.of();
  }

  /** The processors of a list such as {@code 0,2-3}; empty where it is none. */
  static List<Integer> numbers(String list) {
    List<Integer> numbers = new ArrayList<>();
    if (!LIST.matcher(list).matches()) {
      return numbers;
    }
    for (String part : list.split(",", -1)) {
      int dash = part.indexOf('-');
      int from = Integer.parseInt(dash < 0 ? part : part.substring(0, dash));
      int to = dash < 0 ? from : Integer.parseInt(part.substring(dash + 1));
      for (int core = from; core <= to && numbers.size() < CORES_MAX; core++) {
        numbers.add(core);
      }
    }
    return numbers;
  }
}
