package dev.flotilla.agent.process;

import dev.flotilla.wire.WorkerReport;
import dev.flotilla.wire.WorkerReport.Phase;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;

/**
 * An agent's supervision that replaces itself, by {@code execv}, as soon as its worker is ready,
 * and then is the agent that comes after it.
 */
final class ReplacedAgentMain {
  private ReplacedAgentMain() {}

  static List<String> command(Path home, String stage) {
    return List.of(
        ProcessHandle.current().info().command().orElseThrow(),
        "-XX:TieredStopAtLevel=1",
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        System.getProperty("java.class.path"),
        ReplacedAgentMain.class.getName(),
        home.toString(),
        stage);
  }

  public static void main(String[] arguments) throws Throwable {
    Path home = Path.of(arguments[0]);
    String stage = arguments[1];
    NodeUnderTest node = new NodeUnderTest(home, NodeUnderTest.QUICK);
    node.events("leftover-stopped")
        .forEach(event -> System.out.println(event.kind() + " " + event.message()));
    node.engine.keyed = false;
    node.portOwners = PortOwners.ofSystem();
    node.supervisor.desired(List.of(node.worker("node/m-1", ListeningMain.script())));
    WorkerReport report = node.await("node/m-1", Phase.READY);
    System.out.println(
        stage + " " + ProcessHandle.current().pid() + " " + report.pid() + " " + report.port());
    if (stage.equals("before")) {
      killGuard(report.pid());
      replaceBy(command(home, "after"));
    }
    node.close();
  }

  private static void killGuard(long engine) {
    ProcessHandle.current()
        .children()
        .filter(child -> child.pid() != engine)
        .forEach(guard -> {
          guard.destroyForcibly();
          guard.onExit().join();
        });
  }

  /** Java has no exec; the C library's is called, which the command line above allows. */
  @SuppressWarnings("restricted")
  private static void replaceBy(List<String> command) throws Throwable {
    Linker linker = Linker.nativeLinker();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(ValueLayout.ADDRESS, command.size() + 1L);
      for (int i = 0; i < command.size(); i++) {
        words.setAtIndex(ValueLayout.ADDRESS, i, arena.allocateFrom(command.get(i)));
      }
      words.setAtIndex(ValueLayout.ADDRESS, command.size(), MemorySegment.NULL);
      System.out.flush();
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
