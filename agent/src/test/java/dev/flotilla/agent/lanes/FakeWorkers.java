package dev.flotilla.agent.lanes;

import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage.Desired;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Workers that a test puts there. */
final class FakeWorkers implements Workers {
  final Map<String, Integer> ports = new ConcurrentHashMap<>();
  final List<WorkerReport> reports = new CopyOnWriteArrayList<>();
  final List<Desired> desired = new CopyOnWriteArrayList<>();
  final List<String> restarted = new CopyOnWriteArrayList<>();

  @Override
  public List<WorkerReport> reports() {
    return List.copyOf(reports);
  }

  @Override
  public void desired(Desired wanted) {
    desired.add(wanted);
  }

  @Override
  public void restart(String worker) {
    restarted.add(worker);
  }

  @Override
  public EnginePort port(String worker, long generation) {
    Integer port = ports.get(worker + " " + generation);
    return port == null
        ? new EnginePort.None("no launch " + generation + " of " + worker)
        : new EnginePort.Live(port);
  }

  static WorkerReport report(String id, long generation, WorkerReport.Phase phase) {
    return new WorkerReport(
        id,
        "m",
        generation,
        phase,
        "",
        "llama-server",
        "",
        0,
        0,
        "",
        List.of(),
        0,
        0,
        false,
        0,
        0,
        1,
        null,
        "",
        false);
  }
}
