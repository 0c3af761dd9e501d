package dev.flotilla.cli.serve;

import dev.flotilla.cli.output.Shell;
import dev.flotilla.wire.process.Execute;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A process that becomes itself once more with the heap that its model wants: a heap is fixed when
 * a JVM starts, and what it has to hold is known when the model's header was read. The process id
 * stays, so whoever started the process has nothing to know of it.
 *
 * @param program java and its options, up to the main class
 */
record LargerHeap(List<String> program) {
  /** Set where it was done: a second time would not help. */
  private static final String DONE = "flotilla.heap.enlarged";

  LargerHeap {
    program = List.copyOf(program);
  }

  /** This process's own command with another heap. */
  static LargerHeap of(long bytes) {
    String heap = (bytes >> 20) + "m";
    List<String> program = new ArrayList<>();
    program.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    program.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
    program.addAll(List.of("-Xms" + heap, "-Xmx" + heap, "-D" + DONE + "=true"));
    program.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass()));
    return new LargerHeap(program);
  }

  /** The JVM says there what it was started with. */
  private static String mainClass() {
    return System.getProperty("sun.java.command", "").split(" ", 2)[0];
  }

  /** Whether it may be done: not twice, and not where a person has said how large the heap is. */
  static boolean isAllowed(Shell shell) {
    return System.getProperty(DONE) == null
        && shell.variable("FLOTILLA_JAVA_OPTS").filter(said -> said.contains("-Xm")).isEmpty();
  }

  /**
   * Does not return.
   *
   * @param arguments of the command, its name first
   * @throws IllegalStateException where the system refuses it
   */
  void start(List<String> arguments) {
    List<String> words = new ArrayList<>(program);
    words.addAll(arguments);
    Execute.command(words);
  }
}
