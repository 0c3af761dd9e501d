package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.policy.Policy;
import dev.flotilla.agent.policy.PolicyRefused;
import dev.flotilla.wire.connection.LoopbackPorts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;

/** A node with a supervisor and shell engines, and everything that was heard of it. */
final class NodeUnderTest implements SupervisorListener, AutoCloseable {
  static final Duration SOON = Duration.ofSeconds(15);

  /** Quick pauses, so that a test sees several. */
  static final SupervisorLimits QUICK =
      new SupervisorLimits(
          Duration.ofSeconds(10),
          1 << 20,
          Duration.ofMillis(10),
          Duration.ofMillis(50),
          Duration.ofMillis(100),
          Duration.ofSeconds(2),
          3,
          Duration.ofMillis(700),
          Duration.ofMillis(50),
          Duration.ofMillis(400),
          Duration.ofHours(1),
          Duration.ofMillis(200),
          3,
          4,
          1 << 20);

  /** As quick, for engines that do not answer. */
  static final SupervisorLimits HASTY =
      new SupervisorLimits(
          Duration.ofSeconds(10),
          1 << 20,
          Duration.ofMillis(10),
          Duration.ofMillis(50),
          Duration.ofMillis(100),
          Duration.ofMillis(200),
          3,
          Duration.ofMillis(700),
          Duration.ofMillis(50),
          Duration.ofMillis(400),
          Duration.ofHours(1),
          Duration.ofMillis(200),
          3,
          4,
          1 << 20);

  final ShellEngine engine = new ShellEngine();
  final List<WorkerReport> heard = new CopyOnWriteArrayList<>();
  final List<Happened> events = new CopyOnWriteArrayList<>();
  final Path home;
  final Path model;
  final Supervisor supervisor;
  volatile long memoryAvailable = 1 << 20;

  /** By default a system that does not say who listens: shell engines do not listen at all. */
  volatile PortOwners portOwners = (port, likely) -> Optional.empty();

  /** Ports that engines get before free ones. */
  final Queue<Integer> nextPorts = new ConcurrentLinkedQueue<>();

  volatile ProcessStarter starter = ProcessStarter.inOwnSession();

  NodeUnderTest(Path home, SupervisorLimits limits) throws IOException, PolicyRefused {
    this.home = home;
    this.model = Files.writeString(home.resolve("m.gguf"), "weights");
    this.supervisor =
        new Supervisor(
            new Surroundings(
                home,
                8,
                Policy.forUp(home),
                Supervisor.byEngine(List.of(engine)),
                (source, form, progress) -> Path.of(source),
                spec -> new MemoryRoom(memoryAvailable, false),
                this,
                (command, environment, folder) -> starter.start(command, environment, folder),
                InstantSource.system(),
                new Random(7),
                limits,
                (port, likely) -> portOwners.listeners(port, likely),
                () -> {
                  Integer next = nextPorts.poll();
                  return next == null ? LoopbackPorts.free() : next;
                }));
    supervisor.start();
  }

  WorkerSpec worker(String id, String behaviour) {
    return worker(id, Map.of("do", behaviour));
  }

  WorkerSpec worker(String id, Map<String, String> args) {
    return new WorkerSpec(
        id,
        "m",
        "llama-server",
        model.toString(),
        4096,
        4,
        WorkerSpec.Reasoning.INLINE,
        false,
        false,
        args);
  }

  WorkerReport report(String id) {
    return supervisor.reports().stream().filter(r -> r.id().equals(id)).findFirst().orElseThrow();
  }

  WorkerReport await(String id, Phase phase) {
    await(id + " " + phase, () -> assertThat(report(id).phase()).isEqualTo(phase));
    return report(id);
  }

  void await(String what, ThrowingRunnable holds) {
    Awaitility.await(what).atMost(SOON).untilAsserted(holds);
  }

  List<Happened> events(String kind) {
    return events.stream().filter(event -> event.kind().equals(kind)).toList();
  }

  static boolean lives(long pid) {
    return ProcessFacts.identity(pid).isPresent();
  }

  @Override
  public void workerChanged(WorkerReport report) {
    heard.add(report);
  }

  @Override
  public void happened(Happened event) {
    events.add(event);
  }

  @Override
  public void progress(
      String subject, String step, long doneBytes, long totalBytes, boolean finished) {}

  @Override
  public void close() {
    supervisor.close();
  }
}
