package dev.flotilla.agent.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.flotilla.agent.lanes.FakeHub.Control;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage.Desired;
import dev.flotilla.wire.lanes.ControlMessage.Goodbye;
import dev.flotilla.wire.lanes.ControlMessage.Happened;
import dev.flotilla.wire.lanes.ControlMessage.Heartbeat;
import dev.flotilla.wire.lanes.ControlMessage.LanesWanted;
import dev.flotilla.wire.lanes.ControlMessage.Refusal;
import dev.flotilla.wire.lanes.ControlMessage.RestartWorker;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import dev.flotilla.wire.lanes.ControlMessage.UpdateNow;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep.Stage;
import dev.flotilla.wire.lanes.ControlMessage.Welcome;
import dev.flotilla.wire.lanes.ControlMessage.WorkerChanged;
import dev.flotilla.wire.release.Release;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ControlLaneTest {
  private static final AgentLaneLimits QUICK =
      new AgentLaneLimits(
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(2),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofMillis(5),
          Duration.ofMillis(20),
          32,
          1000,
          64);
  private static final NodeFacts FACTS =
      new NodeFacts(
          "host", "linux", "1", "x86_64", false, "cpu", 1, 2, 10, 5, 0.5, List.of(), List.of());

  @TempDir Path home;
  private FakeHub hub;
  private final FakeWorkers workers = new FakeWorkers();
  private final Outbox outbox = new Outbox(QUICK, InstantSource.system());
  private final List<String> troubles = new CopyOnWriteArrayList<>();
  private final List<String> heardOfUpdates = new CopyOnWriteArrayList<>();
  private final UpdateDesk updates =
      new UpdateDesk() {
        @Override
        public void welcomed() {
          heardOfUpdates.add("welcomed");
        }

        @Override
        public void offered(UpdateOffered offer) {
          heardOfUpdates.add("offered " + offer.release().version());
          outbox.update(
              new UpdateStep(offer.release().version(), offer.attempt(), Stage.FETCHING, ""));
        }

        @Override
        public void now(String version) {
          heardOfUpdates.add("now " + version);
        }

        @Override
        public void parted() {
          heardOfUpdates.add("parted");
        }
      };

  // Every test begins with start(), each with another token.
  @SuppressWarnings("NullAway.Init")
  private WorkLanes workLanes;

  @SuppressWarnings("NullAway.Init")
  private ControlLane lane;

  @BeforeEach
  void startHub() throws IOException {
    hub = new FakeHub();
  }

  @AfterEach
  void stop() throws IOException {
    lane.close();
    workLanes.close();
    hub.close();
  }

  @Test
  void anAgentEnrolsOnceAndIntroducesItself() throws Exception {
    workers.reports.add(FakeWorkers.report("node-1/m-1", 3, Phase.READY));
    start(Optional.of("token-1"));

    Control control = hub.nextControl();
    assertThat(hub.enrolments).singleElement().asString().contains("token-1", "node-1");
    assertThat(control.hello.node()).isEqualTo("node-1");
    assertThat(control.hello.generation()).isEqualTo(1);
    assertThat(control.hello.workers()).isEqualTo(workers.reports);
    assertThat(control.lane.headers)
        .containsEntry("x-flotilla-node", "node-1")
        .containsEntry("x-flotilla-generation", "1")
        .containsEntry("authorization", "Bearer secret-1");

    restartAgent(Optional.empty());
    assertThat(hub.nextControl().hello.generation()).isEqualTo(2);
    assertThat(hub.enrolments).as("the credential was kept").hasSize(1);
  }

  @Test
  void aBadTokenEndsTheAgentAndSaysHowToMakeAGoodOne() throws Exception {
    hub.enrolStatus = "401 Unauthorized";
    hub.enrolBody = "{\"error\":{\"message\":\"the token is used up\"}}";
    start(Optional.of("bad"));

    AgentEnd end = end();
    assertThat(end.code()).isEqualTo("bad-token");
    assertThat(end.reason())
        .contains("the token is used up", "flotilla tokens create", "--token")
        .doesNotContain("bad ");
  }

  @Test
  void aHubThatCantStoreTheEnrolmentIsAskedAgain() throws Exception {
    String good = hub.enrolBody;
    hub.enrolBody = "{\"error\":{\"message\":\"the disk is full\"}}";
    hub.enrolStatus = "503 Service Unavailable";
    start(Optional.of("good"));
    await().until(() -> !hub.enrolments.isEmpty());

    hub.enrolBody = good;
    hub.enrolStatus = "200 OK";

    assertThat(hub.nextControl().hello.node()).isEqualTo("node-1");
  }

  @Test
  void withoutAnyTokenTheAgentSaysWhatItNeeds() throws Exception {
    start(Optional.empty());

    assertThat(end().code()).isEqualTo("no-token");
    assertThat(end().reason()).contains("flotilla tokens create");
  }

  @Test
  void aNameThatAnotherAgentHoldsEndsTheAgent() throws Exception {
    hub.enrolStatus = "409 Conflict";
    start(Optional.of("token-1"));

    assertThat(end().code()).isEqualTo("name-taken");
    assertThat(end().reason()).contains("'node-1'", "--name");
  }

  @Test
  void aStaleGenerationEndsTheAgent() throws Exception {
    hub.answer = new Refusal("stale-generation", "A newer run of this agent is here.", false);
    start(Optional.of("token-1"));

    assertThat(end())
        .isEqualTo(new AgentEnd("stale-generation", "A newer run of this agent is here."));
    assertThat(hub.hellos).hasSize(1);
  }

  @Test
  void aRefusalForNowIsTriedAgain() throws Exception {
    hub.answer = new Refusal("full", "Too many nodes for now.", true);
    start(Optional.of("token-1"));
    await().until(() -> hub.hellos.size() > 2);
    hub.answer = FakeHub.WELCOME;

    hub.nextControl();
    assertThat(troubles).as("said once").containsOnlyOnce("Too many nodes for now.");
  }

  @Test
  void aHubThatForgotTheAgentTakesItsTokenAgain() throws Exception {
    start(Optional.of("token-1"));
    hub.nextControl();
    hub.kill();
    hub.credential = "secret-2";
    hub.enrolBody = "{\"credential\":\"secret-2\"}";
    hub.start();

    assertThat(hub.nextControl().lane.headers).containsEntry("authorization", "Bearer secret-2");
    assertThat(hub.enrolments).hasSize(2);
  }

  @Test
  void aHubThatForgotAnAgentWithoutATokenEndsIt() throws Exception {
    AgentIdentity.open(home).keepCredential("node-1", "old");
    start(Optional.empty());

    assertThat(end().code()).isEqualTo("bad-credential");
    assertThat(end().reason()).contains("unknown credential", "flotilla tokens create");
  }

  @Test
  void aKilledHubFindsItsAgentAgainWithTheNewestOfEverything() throws Exception {
    start(Optional.of("token-1"));
    hub.nextControl();
    hub.kill();
    await().until(() -> !lane.isUp());
    outbox.worker(FakeWorkers.report("node-1/m-1", 4, Phase.WAITING));
    outbox.event(event("the engine died"));
    workers.reports.add(FakeWorkers.report("node-1/m-1", 5, Phase.READY));
    hub.start();

    Control control = hub.nextControl();
    assertThat(control.hello.workers()).isEqualTo(workers.reports);
    await().until(() -> !control.said(Happened.class).isEmpty());
    assertThat(control.said(Happened.class))
        .extracting(Happened::message)
        .contains("the engine died");
    assertThat(control.said(WorkerChanged.class)).as("older than the hello").isEmpty();
    assertThat(lane.ended()).isNotDone();
  }

  @Test
  void aTornLaneIsDialledAnewAndItsWorkLanesToo() throws Exception {
    start(Optional.of("token-1"));
    Control control = hub.nextControl();
    FakeHub.Lane old = hub.nextWork();
    control.lane.close();

    assertThat(old.hasEnded()).as("lanes of the lost spell").isTrue();
    hub.nextControl();
    await().until(() -> workLanes.waiting() == FakeHub.WELCOME.idleLanes());
    workLanes.checkInvariants();
  }

  @Test
  void aHubThatFallsSilentIsTakenForDead() throws Exception {
    hub.echoes = false;
    hub.answer = new Welcome("hub-1", 100, 2, 6);
    start(Optional.of("token-1"));
    Control control = hub.nextControl();

    hub.nextControl();
    assertThat(control.said(Heartbeat.class)).hasSizeGreaterThanOrEqualTo(2);
    assertThat(troubles).contains("the hub was silent for 300 ms");
  }

  @Test
  void aHubThatAnswersHeartbeatsIsKept() throws Exception {
    start(Optional.of("token-1"));
    Control control = hub.nextControl();

    await().until(() -> control.said(Heartbeat.class).size() >= 5);
    assertThat(hub.hellos).hasSize(1);
    assertThat(control.said(Heartbeat.class).getFirst().facts()).isEqualTo(FACTS);
  }

  @Test
  void whatTheHubWantsIsDone() throws Exception {
    start(Optional.of("token-1"));
    Control control = hub.nextControl();
    control.lane.sendBytes("{\"type\":\"of-the-future\"}\n".getBytes(StandardCharsets.US_ASCII));
    control.lane.send(new Desired(7, List.of()));
    control.lane.send(new RestartWorker("node-1/m-1"));
    control.lane.send(new LanesWanted(3));

    await().until(() -> workers.restarted.equals(List.of("node-1/m-1")));
    assertThat(workers.desired).containsExactly(new Desired(7, List.of()));
    await().until(() -> hub.work.size() == FakeHub.WELCOME.idleLanes() + 3);
  }

  @Test
  void changesAndEventsAreSentAsTheyHappen() throws Exception {
    start(Optional.of("token-1"));
    Control control = hub.nextControl();
    outbox.worker(FakeWorkers.report("node-1/m-1", 4, Phase.READY));
    outbox.event(event("it is ready"));

    await().until(() -> control.said(Happened.class).size() == 1);
    assertThat(control.said(WorkerChanged.class)).hasSize(1);
  }

  @Test
  void wordsThatNoControlLaneCarriesEndTheLaneNotTheAgent() throws Exception {
    start(Optional.of("token-1"));
    hub.nextControl().lane.sendBytes("no json at all\n".getBytes(StandardCharsets.US_ASCII));

    hub.nextControl();
    assertThat(lane.ended()).isNotDone();
  }

  @Test
  void whatIsNoHubIsSaidAndTriedAgain() throws Exception {
    hub.upgradeStatus = "404 Not Found";
    start(Optional.of("token-1"));
    await().until(() -> !troubles.isEmpty());
    assertThat(troubles.getFirst()).isEqualTo("the hub answers with HTTP 404: because of the test");
    hub.upgradeStatus = "";

    hub.nextControl();
  }

  @Test
  void anUnreachableHubIsNamed() throws Exception {
    HubAddress address = hub.address();
    hub.kill();
    start(Optional.of("token-1"));

    await().until(() -> !troubles.isEmpty());
    assertThat(troubles.getFirst()).startsWith("nothing listens at " + address);
  }

  @Test
  void theAgentSaysGoodbye() throws Exception {
    start(Optional.of("token-1"));
    Control control = hub.nextControl();
    await().until(lane::isUp);
    lane.close("Ctrl-C");

    await().until(() -> control.ended);
    assertThat(control.said(Goodbye.class)).containsExactly(new Goodbye("Ctrl-C"));
    assertThat(end().isClosed()).isTrue();
  }

  @Test
  void whatTheHubSaysOfUpdatesArrivesInOrderAndIsAnswered() throws Exception {
    start(Optional.of("token-1"));
    Control control = hub.nextControl();
    control.lane.send(new UpdateOffered(new Release("0.2.0", 1, "00", "s"), 3));
    control.lane.send(new UpdateNow("0.2.0"));
    await().until(() -> heardOfUpdates.contains("now 0.2.0"));
    await().until(() -> !control.said(UpdateStep.class).isEmpty());
    assertThat(control.said(UpdateStep.class))
        .containsExactly(new UpdateStep("0.2.0", 3, Stage.FETCHING, ""));

    control.lane.close();
    hub.nextControl();
    await().until(() -> heardOfUpdates.size() == 5);
    assertThat(heardOfUpdates)
        .containsExactly("welcomed", "offered 0.2.0", "now 0.2.0", "parted", "welcomed");
  }

  @Test
  void noSecretIsInWhatMayBeLogged() throws Exception {
    start(Optional.of("token-1"));
    hub.nextControl();
    AgentIdentity identity = AgentIdentity.open(home);

    assertThat(new ControlLane.Self("n", Optional.of("token-1"), "1", identity).toString())
        .doesNotContain("token-1", "secret-1");
    assertThat(new LaneUpgrade.Caller("n", 1, "secret-1").toString()).doesNotContain("secret-1");
    assertThat(Files.readString(home.resolve("agent/credential"))).contains("secret-1");
  }

  private void restartAgent(Optional<String> token) throws IOException {
    lane.close();
    workLanes.close();
    start(token);
  }

  private void start(Optional<String> token) throws IOException {
    HubDialer dialer = new HubDialer(hub.address(), Optional.empty(), QUICK);
    workLanes = new WorkLanes(dialer, workers, QUICK, new Random(1));
    lane =
        new ControlLane(
            new ControlLane.Self("node-1", token, "0.1.0", AgentIdentity.open(home)),
            dialer,
            () -> FACTS,
            workers,
            workLanes,
            updates,
            outbox,
            QUICK,
            new ControlLane.Listener() {
              @Override
              public void connected(String hubId) {}

              @Override
              public void disconnected(String why) {
                troubles.add(why);
              }
            },
            new Random(1));
    lane.start();
  }

  private AgentEnd end() throws Exception {
    return lane.ended().get(20, TimeUnit.SECONDS);
  }

  private static Happened event(String message) {
    return new Happened(Instant.EPOCH, Severity.WARNING, "worker", "node-1/m-1", message);
  }
}
