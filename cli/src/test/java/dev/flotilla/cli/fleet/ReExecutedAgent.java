package dev.flotilla.cli.fleet;

import dev.flotilla.cli.Main;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * {@code flotilla agent} as a process that becomes another run of itself, by {@code execv}, as soon
 * as it is told to. What would have ended its engines is killed before, so that they survive.
 */
final class ReExecutedAgent implements AutoCloseable {
  private static final int END_SECONDS = 60;

  private final Process process;
  private final Path output;
  private final Set<ProcessHandle> started = new LinkedHashSet<>();

  private ReExecutedAgent(Process process, Path output) {
    this.process = process;
    this.output = output;
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
    process.descendants().forEach(started::add);
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
    process.descendants().forEach(started::add);
    process.destroy();
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    started.forEach(ProcessHandle::destroyForcibly);
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
        execute(command(arguments));
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

  /** Java has no exec: the C library's is called. */
  @SuppressWarnings("restricted")
  private static void execute(List<String> command) throws Throwable {
    Linker linker = Linker.nativeLinker();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(ValueLayout.ADDRESS, command.size() + 1L);
      for (int i = 0; i < command.size(); i++) {
        words.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(command.get(i)));
      }
      words.setAtIndex(ValueLayout.ADDRESS, command.size(), MemorySegment.NULL);
      int failed =
          (int)
              linker
                  .downcallHandle(
                      linker.defaultLookup().find("execv").orElseThrow(),
                      FunctionDescriptor.of(
                          ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS))
                  .invokeExact(arena.allocateFrom(command.getFirst()), words);
      throw new IllegalStateException("execv came back with " + failed);
    }
  }
}
