package dev.flotilla.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.agent.lanes.FakeHub;
import dev.flotilla.agent.lanes.Workers.EnginePort;
import dev.flotilla.agent.node.NodeProbe;
import dev.flotilla.agent.policy.Policy;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import dev.flotilla.wire.lanes.ControlMessage.Desired;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.WorkerChanged;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The real supervision below a whole agent, on a machine that has no engine. */
class LocalEnginesTest {
  @TempDir Path home;

  @Test
  void aTruncatedModelIsRefusedWithTheReasonBeforeAnEngineStarts() throws Exception {
    Policy policy = Policy.forAgent(home);
    LocalEngines engines = new LocalEngines(home, policy, "");
    assertThat(engines.engines()).isEmpty();
    try (FakeHub hub = new FakeHub();
        Agent agent = Agent.start(config(hub), engines, new Silent())) {
      FakeHub.Control control = hub.nextControl();
      control.lane.send(new Desired(1, List.of(spec("node-1/m-1"))));

      await()
          .atMost(Duration.ofSeconds(30))
          .until(() ->
              control.said(WorkerChanged.class).stream()
                  .map(WorkerChanged::worker)
                  .anyMatch(report -> report.phase() == Phase.REFUSED));
      WorkerReport report = control.said(WorkerChanged.class).getLast().worker();
      assertThat(report.id()).isEqualTo("node-1/m-1");
      assertThat(report.reason()).contains("m.gguf", "truncated or damaged");
      assertThat(report.pid()).as("no engine was started").isZero();
      assertThat(agent.workers()).hasSize(1);
      assertThat(hub.nextWork().open("node-1/m-1", report.generation())).startsWith("REFUSED ");

      control.lane.send(new Desired(2, List.of()));
      await().atMost(Duration.ofSeconds(30)).until(() -> agent.workers().isEmpty());
    }
  }

  @Test
  void anEngineThatThePolicyForbidsIsNotLookedFor() throws Exception {
    Files.createDirectories(home.resolve("agent"));
    Path policy = home.resolve("agent/policy.yaml");
    Files.writeString(policy, "engines: {}\n");

    assertThat(new LocalEngines(home, Policy.forAgent(home), System.getenv("PATH")).engines())
        .isEmpty();
  }

  @Test
  void aLaunchThatIsNotThereHasNoPort() throws Exception {
    Policy policy = Policy.forAgent(home);
    try (Supervision supervision =
        new LocalEngines(home, policy, "")
            .start(
                new Supervision.Surroundings(
                    home,
                    "node-1",
                    (source, form, progress) -> home,
                    new NodeProbe(List::of)::refresh,
                    new Silent()))) {
      assertThat(supervision.port("node-1/m-1", 3))
          .isEqualTo(new EnginePort.None("launch 3 of node-1/m-1 is not ready here"));
    }
  }

  private AgentConfig config(FakeHub hub) {
    return AgentConfig.of(hub.address(), home, "0.1.0")
        .withToken(Optional.of("token-1"))
        .withNode(Optional.of("node-1"));
  }

  private WorkerSpec spec(String id) throws Exception {
    Path folder = Files.createDirectories(home.resolve("models"));
    Path model = folder.resolve("m.gguf");
    Files.writeString(model, "GGUF");
    return new WorkerSpec(
        id,
        "m",
        "llama-server",
        model.toString(),
        1024,
        1,
        Reasoning.INLINE,
        false,
        false,
        Map.of());
  }

  private static final class Silent implements AgentListener {
    @Override
    public void workerChanged(WorkerReport report) {}

    @Override
    public void happened(Happened event) {}

    @Override
    public void progress(String subject, String step, long done, long total, boolean finished) {}

    @Override
    public void connected(String hubId) {}

    @Override
    public void disconnected(String why) {}
  }
}
