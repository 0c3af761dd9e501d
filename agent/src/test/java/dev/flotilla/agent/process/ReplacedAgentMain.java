package dev.flotilla.agent.process;

import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.process.Execute;
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
      Execute.command(command(home, "after"));
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
}
