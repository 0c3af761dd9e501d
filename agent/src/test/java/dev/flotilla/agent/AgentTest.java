package dev.flotilla.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.flotilla.agent.lanes.AgentLaneLimits;
import dev.flotilla.agent.lanes.FakeHub;
import dev.flotilla.agent.process.SupervisorListener;
import dev.flotilla.wire.fleet.NodeFacts.EngineFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage.Desired;
import dev.flotilla.wire.lanes.ControlMessage.Goodbye;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Progress;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.lanes.ControlMessage.WorkerChanged;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AgentTest {
  @TempDir Path home;
  private FakeHub hub;
  private final Engines engines = new Engines();
  private final Terminal terminal = new Terminal();

  @BeforeEach
  void startHub() throws IOException {
    hub = new FakeHub();
  }

  @AfterEach
  void stopHub() throws IOException {
    hub.close();
  }

  @Test
  void anAgentIsAllOfItsParts() throws Exception {
    try (ServerSocket engine = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      engines.port = engine.getLocalPort();
      FakeHub.Control control;
      try (Agent agent = start("node-1")) {
        control = hub.nextControl();
        assertThat(control.hello.node()).isEqualTo("node-1");
        assertThat(control.hello.version()).isEqualTo("0.1.0");
        assertThat(control.hello.facts().memoryAvailableBytes()).isPositive();
        assertThat(control.hello.facts().engines()).isEqualTo(engines.engines());
        await().until(agent::isConnected);

        FakeHub.Lane lane = hub.nextWork();
        assertThat(lane.open("node-1/m-1", 1)).isEqualTo("OPENED");
        try (Socket socket = engine.accept()) {
          socket.getOutputStream().write("tokens\n".getBytes(StandardCharsets.US_ASCII));
          assertThat(FakeHub.line(lane.in)).isEqualTo("tokens");
        }
      }
      await().until(() -> control.ended);
      assertThat(control.said(Goodbye.class)).hasSize(1);
      assertThat(engines.closed).as("no engine is left").isTrue();
    }
  }

  @Test
  void anAgentThatEnrolledUnderANameStartsUnderItAgainUnasked() throws Exception {
    try (Agent first = start("laptop")) {
      await().until(first::isConnected);
    }
    AgentConfig unnamed = AgentConfig.of(hub.address(), home, "0.1.0");
    try (Agent again = Agent.start(unnamed, engines, terminal)) {
      assertThat(again.node()).isEqualTo("laptop");
      await().until(again::isConnected);
    }
    assertThat(hub.enrolments).hasSize(1);
  }

  @Test
  void whatHappensIsToldToTheHubAndToThisTerminal() throws Exception {
    try (Agent agent = start("node-1")) {
      FakeHub.Control control = hub.nextControl();
      await().until(agent::isConnected);
      engines.listener().progress("model", "downloading", 5, 10, false);
      engines.listener().workerChanged(engines.report);
      engines.listener().happened(new Happened(Instant.EPOCH, Severity.INFO, "k", "s", "started"));

      await().until(() -> control.said(Happened.class).size() == 1);
      assertThat(control.said(Progress.class))
          .containsExactly(new Progress("model", "downloading", 5, 10, false));
      assertThat(control.said(WorkerChanged.class)).hasSize(1);
      assertThat(terminal.lines)
          .containsExactly("connected hub-1", "model downloading 5/10", "READY", "started");
    }
  }

  @Test
  void aSecondAgentOnTheSameHomeSaysWhoHoldsIt() throws Exception {
    try (Agent first = start("node-1")) {
      assertThat(first.node()).isEqualTo("node-1");
      assertThatThrownBy(() -> start("node-1"))
          .isInstanceOf(AgentRefused.class)
          .hasMessageContaining("Another agent holds " + home)
          .hasMessageContaining("process " + ProcessHandle.current().pid() + ", since 2")
          .hasMessageContaining("--home");
    }
    start("node-1").close();
  }

  @Test
  void whatCannotStartLocksNothing() throws Exception {
    assertThatThrownBy(() -> start("../evil"))
        .isInstanceOf(AgentRefused.class)
        .hasMessageContaining("The agent can't have this name");
    AgentConfig config =
        AgentConfig.of(hub.address(), home, "0.1.0")
            .withAuthorities(Optional.of(home.resolve("none.pem")));
    assertThatThrownBy(() -> Agent.start(config, engines, terminal))
        .isInstanceOf(AgentRefused.class)
        .hasMessageContaining("none.pem");

    start("node-1").close();
  }

  @Test
  void aHostNameIsMadeANodeName() throws Exception {
    assertThat(Agent.name(Optional.empty(), "Annas-MacBook.local")).isEqualTo("Annas-MacBook");
    assertThat(Agent.name(Optional.empty(), "bür o")).isEqualTo("b-r-o");
    assertThat(Agent.name(Optional.empty(), "-_x")).isEqualTo("x");
    assertThat(Agent.name(Optional.empty(), "")).isEqualTo("node");
    assertThat(Agent.name(Optional.empty(), "x".repeat(300))).hasSize(63);
  }

  @Test
  void theTokenIsNotInWhatMayBeLogged() {
    AgentConfig config =
        AgentConfig.of(hub.address(), home, "0.1.0").withToken(Optional.of("geheim"));

    assertThat(config.toString()).doesNotContain("geheim");
    assertThat(config.lanes()).isEqualTo(AgentLaneLimits.DEFAULT);
  }

  private Agent start(String node) throws AgentRefused {
    AgentConfig config =
        AgentConfig.of(hub.address(), home, "0.1.0")
            .withToken(Optional.of("token-1"))
            .withNode(Optional.of(node));
    return Agent.start(config, engines, terminal);
  }

  /** Engines that a test puts there. */
  private static final class Engines implements Supervision.Source, Supervision {
    final WorkerReport report =
        new WorkerReport(
            "node-1/m-1",
            "m",
            1,
            Phase.READY,
            "",
            "llama-server",
            "",
            1,
            1,
            "",
            List.of(),
            1,
            1,
            false,
            0,
            0,
            1,
            null,
            "",
            false);
    volatile int port;
    volatile boolean closed;
    private volatile @Nullable SupervisorListener listener;

    SupervisorListener listener() {
      SupervisorListener known = listener;
      if (known == null) {
        throw new AssertionError("not started");
      }
      return known;
    }

    @Override
    public List<EngineFacts> engines() {
      return List.of(new EngineFacts("llama-server", "/bin/llama-server", "1"));
    }

    @Override
    public Supervision start(Surroundings surroundings) {
      listener = surroundings.listener();
      return this;
    }

    @Override
    public List<WorkerReport> reports() {
      return List.of(report);
    }

    @Override
    public void desired(Desired desired) {}

    @Override
    public void restart(String worker) {}

    @Override
    public EnginePort port(String worker, long generation) {
      return new EnginePort.Live(port);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** What a person would see. */
  private static final class Terminal implements AgentListener {
    final List<String> lines = new CopyOnWriteArrayList<>();

    @Override
    public void workerChanged(WorkerReport report) {
      lines.add(report.phase().toString());
    }

    @Override
    public void happened(Happened event) {
      lines.add(event.message());
    }

    @Override
    public void progress(String subject, String step, long done, long total, boolean finished) {
      lines.add(subject + " " + step + " " + done + "/" + total);
    }

    @Override
    public void connected(String hubId) {
      lines.add("connected " + hubId);
    }

    @Override
    public void disconnected(String why) {
      lines.add(why);
    }
  }
}
