package dev.flotilla.hub.fleet;

import static dev.flotilla.hub.fleet.Fleets.model;
import static dev.flotilla.hub.fleet.Fleets.recipe;
import static dev.flotilla.hub.fleet.Fleets.report;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FleetTest {
  private final FleetRig rig = new FleetRig();

  private FleetSnapshot.Name name(String name) {
    FleetSnapshot.Name found = rig.fleet.current().names().get(name);
    if (found == null) {
      throw new AssertionError("no name " + name);
    }
    return found;
  }

  @Test
  void aWorkerIsPlacedStartedAndServes() {
    rig.apply(7, model("m", 1));
    assertThat(name("m").explanation()).isEqualTo("m: no worker is placed, no node has joined");

    FleetRig.Agent agent = rig.agent("box").joins();
    assertThat(agent.desired()).containsExactly("box/m-1");
    assertThat(name("m").coming()).isEqualTo(1);

    agent.reports(report("box/m-1", 1, Phase.PREPARING, 0, "fetching the model"));
    assertThat(name("m").explanation()).isEqualTo("m: 1 worker is starting (fetching the model)");

    agent.says(
        new ControlMessage.Progress("/models/m.gguf", "downloading the model", 43, 100, false));
    assertThat(name("m").explanation())
        .isEqualTo("m: 1 worker is starting (downloading the model, 43 %)");
    assertThat(rig.fleet.progress()).extracting(ProgressView::percent).containsExactly(43);

    agent.ready("box/m-1", 1);
    FleetSnapshot snapshot = rig.fleet.current();
    assertThat(snapshot.revision()).isEqualTo(7);
    Target target = name("m").targets().getFirst();
    assertThat(target.admitting()).isTrue();
    assertThat(target.ledgerKey()).isEqualTo("box/m-1#1");
    assertThat(target.host()).isEqualTo("127.0.0.1:40000");
    assertThat(target.apiKey()).isEqualTo("key-of-1");
    assertThat(rig.kinds()).containsExactly("node-joined", "worker-placed", "worker-ready");
  }

  @Test
  void heartbeatsOfAnUnchangedFleetSayNothingAndPublishNothing() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    FleetSnapshot before = rig.fleet.current();
    List<String> told = List.copyOf(rig.events);
    List<String> changes = new ArrayList<>();
    rig.fleet.onChange(() -> changes.add("changed"));
    int messages = agent.told.size();

    rig.pass(Duration.ofSeconds(30), agent);

    assertThat(rig.events).isEqualTo(told);
    assertThat(rig.fleet.current()).isSameAs(before);
    assertThat(changes).isEmpty();
    assertThat(agent.told).hasSize(messages);
  }

  @Test
  void aWorkerThatDiesIsToldOnceAndServesAgainAsANewLaunch() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);

    agent.says(
        new ControlMessage.Happened(
            FleetRig.BEGIN,
            ControlMessage.Severity.WARNING,
            "worker-died",
            "box/m-1",
            "the agent's own words for the same"));
    agent.reports(
        report("box/m-1", 1, Phase.WAITING, 0, "it was killed; it is started again in 1 s"));
    rig.pass(Duration.ofSeconds(1), agent);
    assertThat(rig.state("box/m-1")).isEqualTo(State.STARTING);
    assertThat(name("m").targets()).isEmpty();
    assertThat(name("m").coming()).isEqualTo(1);

    agent.reports(report("box/m-1", 2, Phase.STARTING, 0));
    agent.ready("box/m-1", 2);
    assertThat(name("m").targets().getFirst().ledgerKey()).isEqualTo("box/m-1#2");
    assertThat(rig.kinds())
        .containsExactly(
            "node-joined", "worker-placed", "worker-ready", "worker-died", "worker-ready");
    assertThat(rig.event("worker-died"))
        .isEqualTo("worker-died box/m-1: box/m-1 died: it was killed; it is started again in 1 s");
  }

  @Test
  void anEngineThatFrozeIsToldOnceInTheWordsOfWhatWasSeen() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    String seen =
        "Its process 7 exists and did not answer 3 times in a row (last: no answer within 5 s); it"
            + " was killed. It is started again in 1 s.";

    agent.says(
        new ControlMessage.Happened(
            FleetRig.BEGIN,
            ControlMessage.Severity.WARNING,
            "worker-unresponsive",
            "box/m-1",
            seen));
    agent.reports(report("box/m-1", 1, Phase.WAITING, 0, seen));
    agent.reports(report("box/m-1", 2, Phase.STARTING, 0));
    agent.ready("box/m-1", 2);

    assertThat(rig.kinds())
        .containsExactly(
            "node-joined", "worker-placed", "worker-ready", "worker-died", "worker-ready");
    assertThat(rig.event("worker-died")).isEqualTo("worker-died box/m-1: box/m-1 died: " + seen);
  }

  @Test
  void aNodeThatJoinsTakesOverAWorkerAndNothingThatRunsIsCut() {
    rig.apply(1, model("m", 2));
    FleetRig.Agent first = rig.agent("one").joins();
    first.ready("one/m-1", 1);
    first.ready("one/m-2", 2);
    first.facts = Fleets.machine(8);
    first.heartbeat();
    rig.inFlight.put("one/m-2#2", 1);

    FleetRig.Agent second = rig.agent("two").joins();
    assertThat(second.desired()).containsExactly("two/m-1");
    assertThat(first.desired()).containsExactly("one/m-1", "one/m-2");
    second.ready("two/m-1", 1);

    assertThat(rig.state("two/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.state("one/m-2")).isEqualTo(State.DRAINING);
    rig.pass(Duration.ofMinutes(10), first, second);
    assertThat(rig.state("one/m-2"))
        .as("what runs in it is not finished")
        .isEqualTo(State.DRAINING);

    rig.inFlight.clear();
    rig.pass(Duration.ofSeconds(1), first, second);
    first.obeys();
    assertThat(rig.fleet.workers())
        .extracting(WorkerView::name)
        .containsExactly("one/m-1", "two/m-1");
    assertThat(rig.event("worker-stopped"))
        .contains("the configuration asks for 2 of them, and node one has more than one");
  }

  @Test
  void anEarlierLaunchsReportIsIgnored() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 5);
    agent.says(
        new ControlMessage.WorkerChanged(report("box/m-1", 4, Phase.WAITING, 0, "late news")));
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.worker("box/m-1").generation()).isEqualTo(5);
  }

  @Test
  void aLowerGenerationIsRefusedAndTheSameOrAHigherOneReplaces() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent first = rig.agent("box");
    first.generation = 5;
    first.joins().ready("box/m-1", 1);

    FleetRig.Agent stale = first.again();
    stale.generation = 4;
    assertThat(stale.dials())
        .satisfies(refusal -> {
          assertThat(refusal.code()).isEqualTo("stale");
          assertThat(refusal.retry()).isFalse();
          assertThat(refusal.reason()).contains("Generation 4").contains("generation 5");
        });
    assertThat(first.cut).isEmpty();

    FleetRig.Agent second = first.again().joins();
    assertThat(first.cut).contains("took its place");
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);

    // The replaced lane talks on and ends: nobody listens.
    first.says(new ControlMessage.WorkerChanged(report("box/m-1", 9, Phase.REFUSED, 0, "no")));
    first.says(new ControlMessage.Goodbye("bye"));
    first.breaks();
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(second.cut).isEmpty();
  }

  @Test
  void anotherAgentOfTheSameNameIsRefused() {
    rig.apply(1, model("m", 1));
    rig.agent("box").joins();
    FleetRig.Agent other = rig.new Agent("box", "someone-else", 99, 16);
    assertThat(other.dials())
        .satisfies(refusal -> {
          assertThat(refusal.code()).isEqualTo("name-taken");
          assertThat(refusal.reason()).contains("--name");
        });
    assertThat(rig.event("node-refused")).contains("name-taken");
  }

  @Test
  void aTornLaneMakesWorkersSuspectAtOnceAndLostAfterThreeHeartbeats() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);

    agent.breaks();
    assertThat(rig.state("box/m-1")).isEqualTo(State.SUSPECT);
    assertThat(name("m").targets()).hasSize(1).noneMatch(Target::admitting);

    rig.pass(Duration.ofSeconds(6));
    assertThat(rig.state("box/m-1")).isEqualTo(State.LOST);
    assertThat(name("m").targets()).isEmpty();
    assertThat(name("m").coming()).isEqualTo(1);
    assertThat(name("m").explanation()).startsWith("m: 1 worker is lost (node box");

    agent.again().joins();
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.kinds()).endsWith("node-left", "worker-lost", "node-back", "worker-back");
  }

  @Test
  void aSilentNodeIsSuspectThenLostAndItsLaneIsCut() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);

    rig.pass(Duration.ofSeconds(4));
    assertThat(rig.state("box/m-1")).isEqualTo(State.SUSPECT);
    agent.heartbeat();
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);

    rig.pass(Duration.ofSeconds(6));
    assertThat(rig.state("box/m-1")).isEqualTo(State.LOST);
    assertThat(agent.cut).contains("three heartbeats");
  }

  @Test
  void aNodeThatStaysAwayIsReplacedAndItsWorkerCountsAgainWhenItIsBack() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent away = rig.agent("a").joins();
    away.ready("a/m-1", 1);
    FleetRig.Agent other = rig.agent("b").joins();
    away.breaks();

    rig.pass(Duration.ofSeconds(55), other);
    assertThat(other.desired()).isEmpty();
    rig.pass(Duration.ofSeconds(10), other);
    assertThat(other.desired()).containsExactly("b/m-1");
    assertThat(rig.event("node-gone")).contains("60 s");
    other.ready("b/m-1", 1);

    FleetRig.Agent back = away.again().joins();
    assertThat(rig.state("a/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.state("b/m-1")).as("the youngest leaves").isEqualTo(State.DRAINING);
    rig.pass(Duration.ofSeconds(1), back, other);
    assertThat(other.desired()).isEmpty();
    other.obeys();
    assertThat(rig.fleet.workers()).extracting(WorkerView::name).containsExactly("a/m-1");
  }

  @Test
  void aRestartOfTheHubLosesNoWorkerAndPlacesNothingElsewhereWithinTheGrace() {
    rig.apply(1, model("m", 2));
    FleetRig.Agent a = rig.agent("a").joins();
    a.ready("a/m-1", 3);
    a.ready("a/m-2", 4);

    rig.restartHub();
    assertThat(rig.state("a/m-1")).isEqualTo(State.LOST);
    rig.apply(1, model("m", 2));
    FleetRig.Agent b = rig.agent("b").joins();
    rig.pass(Duration.ofSeconds(5), b);
    assertThat(b.desired()).isEmpty();

    FleetRig.Agent back = a.again().joins();
    assertThat(back.desired()).containsExactly("a/m-1", "a/m-2");
    assertThat(rig.state("a/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.kinds()).contains("worker-back").doesNotContain("worker-placed");
  }

  @Test
  void aHubThatForgotEverythingAdoptsWhatItsAgentsRun() {
    rig.apply(1, model("m", 2));
    FleetRig.Agent a = rig.agent("a").joins();
    a.ready("a/m-1", 3);
    a.ready("a/m-2", 4);
    rig.remembered.clear();
    rig.restartHub();

    FleetRig.Agent back = a.again().joins();
    assertThat(back.told).as("nothing is stopped before a configuration is in force").hasSize(1);
    rig.apply(1, model("m", 2));
    assertThat(back.desired()).containsExactly("a/m-1", "a/m-2");
    assertThat(rig.state("a/m-2")).isEqualTo(State.SERVING);
  }

  @Test
  void anAgentThatSaysGoodbyeTakesItsWorkersWithIt() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    agent.says(new ControlMessage.Goodbye("stopped by hand"));
    assertThat(rig.state("box/m-1")).isEqualTo(State.STOPPED);
    assertThat(name("m").targets()).isEmpty();
    assertThat(rig.event("node-left")).contains("stopped by hand");
    assertThat(rig.fleet.node("box").orElseThrow().connected()).isFalse();
  }

  @Test
  void aDrainedWorkerTakesNothingNewFinishesWhatRunsAndResumesAtOnce() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    rig.inFlight.put("box/m-1#1", 2);

    assertThat(rig.fleet.drain("box/m-1", "ann")).isInstanceOf(CommandResult.Done.class);
    assertThat(rig.state("box/m-1")).isEqualTo(State.DRAINING);
    assertThat(rig.worker("box/m-1").commandedBy()).isEqualTo("ann");
    assertThat(name("m").targets()).hasSize(1).noneMatch(Target::admitting);
    rig.pass(Duration.ofSeconds(5), agent);
    assertThat(rig.kinds()).doesNotContain("worker-drained");

    rig.inFlight.clear();
    rig.pass(Duration.ofSeconds(5), agent);
    assertThat(rig.kinds()).containsOnlyOnce("worker-drained");
    assertThat(agent.desired()).as("the engine stays loaded").containsExactly("box/m-1");

    rig.fleet.resume("box/m-1", "ann");
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
  }

  @Test
  void aDrainHasALimitAndSaysWhatItCut() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    rig.inFlight.put("box/m-1#1", 2);
    rig.fleet.drain("box/m-1", "ann");
    rig.pass(Duration.ofSeconds(121), agent);
    assertThat(rig.event("worker-drained")).contains("within 120 s: 2 requests were cut");
  }

  @Test
  void aDrainSurvivesARestartOfTheHub() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    rig.fleet.drain("box", "ann");
    rig.restartHub();
    rig.apply(1, model("m", 1));
    agent.again().joins();
    assertThat(rig.state("box/m-1")).isEqualTo(State.DRAINING);
    assertThat(rig.fleet.node("box").orElseThrow().drained()).isTrue();
    assertThat(rig.fleet.resume("box/m-1", "ann"))
        .isEqualTo(new CommandResult.Refused("It is node box that is drained: resume the node."));
    rig.fleet.resume("box", "ann");
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
  }

  @Test
  void aRestartByHandDrainsFirstAndServesAsALaterLaunchOnly() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    rig.inFlight.put("box/m-1#1", 1);

    rig.fleet.restart("box/m-1", "ann");
    rig.pass(Duration.ofSeconds(3), agent);
    assertThat(rig.state("box/m-1")).isEqualTo(State.DRAINING);
    assertThat(agent.told).doesNotContain(new ControlMessage.RestartWorker("box/m-1"));

    rig.inFlight.clear();
    rig.pass(Duration.ofSeconds(1), agent);
    assertThat(agent.told).containsOnlyOnce(new ControlMessage.RestartWorker("box/m-1"));
    assertThat(rig.state("box/m-1")).as("the old launch still reports").isEqualTo(State.STARTING);

    agent.ready("box/m-1", 2);
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.kinds()).doesNotContain("worker-died");
  }

  @Test
  void aRestartThatABrokenConnectionSwallowedIsOrderedAgain() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    rig.fleet.restart("box/m-1", "ann");
    rig.pass(Duration.ofSeconds(1), agent);
    assertThat(rig.state("box/m-1")).isEqualTo(State.STARTING);
    agent.breaks();

    FleetRig.Agent back = agent.again().joins();
    rig.pass(Duration.ofSeconds(1), back);
    assertThat(back.told).containsOnlyOnce(new ControlMessage.RestartWorker("box/m-1"));
    back.ready("box/m-1", 2);
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
  }

  @Test
  void fewerReplicasStopTheYoungestAfterItsDrain() {
    rig.apply(1, model("m", 2));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    agent.ready("box/m-2", 2);
    rig.inFlight.put("box/m-2#2", 1);

    rig.apply(2, model("m", 1));
    assertThat(rig.state("box/m-2")).isEqualTo(State.DRAINING);
    rig.pass(Duration.ofSeconds(3), agent);
    assertThat(agent.desired()).containsExactly("box/m-1", "box/m-2");
    assertThat(rig.fleet.resume("box/m-2", "ann")).isInstanceOf(CommandResult.Refused.class);

    rig.inFlight.clear();
    rig.pass(Duration.ofSeconds(1), agent);
    assertThat(agent.desired()).containsExactly("box/m-1");
    assertThat(rig.state("box/m-2")).isEqualTo(State.STOPPED);
    agent.obeys();
    assertThat(rig.fleet.workers()).extracting(WorkerView::name).containsExactly("box/m-1");
    assertThat(rig.event("worker-stopped")).contains("asks for 1 of them");
  }

  @Test
  void aRefusedWorkerSaysWhyAndIsTriedOnAnotherNodeOnce() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent a = rig.agent("a").joins();
    a.reports(report("a/m-1", 1, Phase.REFUSED, 0, "It needs 9.1 GiB and 4.0 GiB are free."));
    assertThat(rig.state("a/m-1")).isEqualTo(State.REFUSED);
    assertThat(name("m").explanation())
        .isEqualTo("m: 1 worker can't be started (It needs 9.1 GiB and 4.0 GiB are free.)");
    assertThat(name("m").coming()).isZero();

    FleetRig.Agent b = rig.agent("b").joins();
    assertThat(a.desired()).isEmpty();
    assertThat(b.desired()).containsExactly("b/m-1");
    a.obeys();
    b.reports(report("b/m-1", 1, Phase.REFUSED, 0, "It needs 9.1 GiB and 2.0 GiB are free."));
    rig.pass(Duration.ofMinutes(5), a, b);
    assertThat(b.desired()).as("both have refused it: it stays").containsExactly("b/m-1");
    assertThat(rig.kinds().stream().filter("worker-refused"::equals)).hasSize(2);
  }

  @Test
  void aCommandForAnUnknownNameNamesTheNearest() {
    rig.apply(1, model("smollm2", 1));
    rig.agent("mac-mini").joins();
    assertThat(rig.fleet.drain("mac-mimi", "ann"))
        .isEqualTo(new CommandResult.Unknown("mac-mimi", List.of("mac-mini")));
    assertThat(rig.fleet.restart("mac-mini/smolm2-1", "ann"))
        .isEqualTo(new CommandResult.Unknown("mac-mini/smolm2-1", List.of("mac-mini/smollm2-1")));
    assertThat(rig.fleet.resume("../../etc", "ann"))
        .isEqualTo(new CommandResult.Unknown("../../etc", List.of()));
  }

  @Test
  void aRouteReachesModelsAndBackendsAndABackendWithoutItsKeyIsLeftOut() {
    FleetSpec.Backend open =
        new FleetSpec.Backend(
            "open", URI.create("http://10.0.0.5:8080/api/v1"), "coder", 2, Optional.empty());
    FleetSpec.Backend closed =
        new FleetSpec.Backend(
            "closed", URI.create("https://example.org/v1/"), "big", 1, Optional.of("CLOSED_KEY"));
    FleetSpec.Route route =
        new FleetSpec.Route(
            "coding",
            List.of("coder"),
            List.of(
                new FleetSpec.Destination.ToModel("m"),
                new FleetSpec.Destination.ToBackend("open"),
                new FleetSpec.Destination.ToBackend("closed")));
    FleetSpec spec =
        new FleetSpec(
            List.of(model("m", 1)),
            List.of(open, closed),
            List.of(route),
            FleetSpec.Limits.DEFAULT);
    rig.fleet.apply(spec, 1, FleetRig.BEGIN);
    rig.agent("box").joins().ready("box/m-1", 1);

    assertThat(rig.fleet.current().names().keySet()).containsExactly("m", "coder");
    assertThat(name("coder").targets()).extracting(Target::name).containsExactly("box/m-1", "open");
    assertThat(rig.event("backend-without-key")).contains("CLOSED_KEY");
    Target backend = name("coder").targets().get(1);
    assertThat(backend.host()).isEqualTo("10.0.0.5:8080");
    assertThat(backend.basePath()).isEqualTo("/api");
    assertThat(backend.upstreamModel()).isEqualTo("coder");
    assertThat(name("coder").createdEpochSeconds()).isEqualTo(FleetRig.BEGIN.getEpochSecond());

    rig.environment.put("CLOSED_KEY", "secret");
    rig.fleet.apply(spec, 2, FleetRig.BEGIN.plusSeconds(100));
    Target keyed = name("coder").targets().get(2);
    assertThat(keyed.apiKey()).isEqualTo("secret");
    assertThat(keyed.toString()).doesNotContain("secret");
    assertThat(name("coder").createdEpochSeconds()).isEqualTo(FleetRig.BEGIN.getEpochSecond());
  }

  @Test
  void aWorkersKeyIsInNoViewEventOrMemory() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    agent.breaks();
    rig.pass(Duration.ofSeconds(7));
    assertThat(
            rig.fleet.workers().toString()
                + rig.fleet.nodes()
                + rig.fleet.current()
                + rig.events
                + rig.remembered)
        .contains("box/m-1")
        .doesNotContain("key-of-");
  }

  @Test
  void aWorkerThatNeverBecameReadyDidNotDie() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.reports(report("box/m-1", 1, Phase.STARTING, 0));
    agent.reports(report("box/m-1", 1, Phase.WAITING, 0, "It never became ready."));

    assertThat(rig.event("worker-not-ready"))
        .isEqualTo("worker-not-ready box/m-1: box/m-1 did not start: It never became ready.");
    assertThat(rig.kinds()).doesNotContain("worker-died");
  }

  @Test
  void anAgentThatSendsTooManyEventsIsHeldToItsLimit() {
    FleetRig.Agent agent = rig.agent("box").joins();
    for (int i = 0; i < 100; i++) {
      agent.says(
          new ControlMessage.Happened(
              FleetRig.BEGIN,
              ControlMessage.Severity.INFO,
              "model-fetched",
              "m",
              "x".repeat(5000)));
    }
    assertThat(rig.kinds().stream().filter("model-fetched"::equals)).hasSize(60);
    assertThat(rig.event("model-fetched").length()).isLessThan(2100);
    rig.pass(Duration.ofMinutes(1), agent);
    agent.says(
        new ControlMessage.Happened(
            FleetRig.BEGIN, ControlMessage.Severity.INFO, "model-fetched", "m", "again"));
    assertThat(rig.event("events-dropped")).contains("40 events");
  }

  @Test
  void aNewConfigurationIsRolledOutWithoutAnOutage() {
    rig.apply(1, model("m", 2));
    FleetRig.Agent agent = rig.agent("box").joins();
    agent.ready("box/m-1", 1);
    agent.ready("box/m-2", 2);
    rig.apply(2, model("m", 2, recipe(FleetSpec.When.ANYWHERE, "/models/better.gguf")));

    for (int launch = 3; launch < 20; launch++) {
      for (String id : agent.desired()) {
        if (!agent.workers.containsKey(id)) {
          agent.ready(id, launch);
        }
      }
      rig.pass(Duration.ofSeconds(1), agent);
      agent.obeys();
      assertThat(name("m").targets().stream().filter(Target::admitting).count())
          .isGreaterThanOrEqualTo(2);
    }
    assertThat(agent.desired()).containsExactly("box/m-3", "box/m-4");
  }
}
