package dev.flotilla.hub.fleet;

import static dev.flotilla.hub.fleet.Fleets.model;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.lanes.ControlMessage;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The life of a worker between its engine's readiness and its first request. */
final class ProofStatesTest {
  private final FleetRig rig = new FleetRig();
  private FleetRig.Agent box;

  @BeforeEach
  void aWorkerThatIsReady() {
    rig.provesAtOnce = false;
    rig.apply(1, model("m", 1));
    box = rig.agent("box").joins();
    box.ready("box/m-1", 1);
  }

  private ProofCandidate candidate() {
    assertThat(rig.fleet.proofCandidates()).hasSize(1);
    return rig.fleet.proofCandidates().getFirst();
  }

  private void refused(String why, boolean slow) {
    rig.fleet.proved(candidate(), new ProofVerdict.Refused(why, slow));
    rig.fleet.checkInvariants();
  }

  private FleetSnapshot.Name name() {
    return rig.fleet.current().names().values().stream().findFirst().orElseThrow();
  }

  private List<String> targets() {
    return name().targets().stream()
        .map(target -> target.name() + (target.admitting() ? "" : " not admitting"))
        .toList();
  }

  @Test
  void agentsThatTellOneHostNameAreOnOneMachine() {
    FleetRig.Agent beside = rig.agent("beside");
    FleetRig.Agent elsewhere = rig.agent("elsewhere");
    FleetRig.Agent nameless = rig.agent("nameless");
    box.facts = Fleets.machineOf("tower", "linux", "x86_64", 16);
    box.heartbeat();
    beside.facts = box.facts;
    elsewhere.facts = Fleets.machineOf("laptop", "linux", "x86_64", 16);
    nameless.facts = Fleets.machineOf("", "linux", "x86_64", 16);
    List.of(beside, elsewhere, nameless).forEach(FleetRig.Agent::joins);

    assertThat(rig.fleet.onMachineOf("box")).containsExactlyInAnyOrder("box", "beside");
    assertThat(rig.fleet.onMachineOf("elsewhere")).containsExactly("elsewhere");
    assertThat(rig.fleet.onMachineOf("nameless")).containsExactly("nameless");
    assertThat(rig.fleet.onMachineOf("unknown")).containsExactly("unknown");
  }

  @Test
  void theSnapshotSaysWhatEachMachineRunsForAllOfItsAgents() {
    FleetRig.Agent beside = rig.agent("beside");
    FleetRig.Agent elsewhere = rig.agent("elsewhere");
    box.facts = Fleets.machineOf("tower", "linux", "x86_64", 16);
    box.heartbeat();
    beside.facts = box.facts;
    elsewhere.facts = Fleets.machineOf("laptop", "linux", "x86_64", 16);
    List.of(beside, elsewhere).forEach(FleetRig.Agent::joins);
    ProofCandidate candidate = candidate();
    rig.fleet.proofBegins(candidate, "its shape is compared");
    assertThat(rig.fleet.current().onMachineOf("box")).as("it serves nobody").isEmpty();

    rig.fleet.proved(candidate, new ProofVerdict.Passed(0, ""));

    String key = candidate.target().ledgerKey();
    assertThat(rig.fleet.current().onMachineOf("box")).containsExactly(key);
    assertThat(rig.fleet.current().onMachineOf("beside")).containsExactly(key);
    assertThat(rig.fleet.current().onMachineOf("elsewhere")).isEmpty();
    assertThat(rig.fleet.current().onMachineOf("unknown")).isEmpty();
  }

  @Test
  void aReadyWorkerIsNobodysTargetBeforeItsProof() {
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
    assertThat(targets()).isEmpty();
    assertThat(name().coming()).as("requests wait").isOne();
    assertThat(name().explanation())
        .isEqualTo("m: 1 worker is being proved (it waits to be proved)");

    ProofCandidate candidate = candidate();
    assertThat(rig.fleet.proofBegins(candidate, "its shape is compared")).isTrue();
    assertThat(rig.worker("box/m-1").stateReason()).isEqualTo("its shape is compared");
    assertThat(rig.fleet.proofCandidates()).as("one proof at a time").isEmpty();
    assertThat(rig.fleet.proofBegins(candidate, "twice")).isFalse();

    rig.fleet.proved(candidate, new ProofVerdict.Passed(0, "94 tok/s alone"));
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.worker("box/m-1").proof()).isEqualTo("94 tok/s alone");
    assertThat(targets()).containsExactly("box/m-1");
    assertThat(rig.event("worker-ready")).contains("box/m-1 serves m");
  }

  @Test
  void aWorkerThatFallsShortIsRefusedAndNeverATarget() {
    refused("it answers with token soup", false);

    assertThat(rig.state("box/m-1")).isEqualTo(State.REFUSED);
    assertThat(targets()).isEmpty();
    assertThat(rig.worker("box/m-1").stateReason()).isEqualTo("it answers with token soup");
    assertThat(rig.event("worker-refused"))
        .contains("box/m-1 is refused, nothing is sent to it: it answers with token soup.");
    assertThat(name().explanation())
        .isEqualTo("m: 1 worker is refused (it answers with token soup)");
  }

  @Test
  void itIsTriedAgainAfterPausesThatGrow() {
    refused("wrong", false);
    rig.pass(Duration.ofSeconds(29), box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.REFUSED);
    rig.pass(Duration.ofSeconds(1), box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
    assertThat(candidate().fresh()).as("an earlier proof does not stand for it").isTrue();

    refused("wrong still", false);
    rig.pass(Duration.ofSeconds(59), box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.REFUSED);
    rig.pass(Duration.ofSeconds(1), box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
  }

  @Test
  void oneThatIsTooSlowIsTriedAgainWhenItsMachineHasLessToDo() {
    load(3.0);
    refused("12 tok/s of 20", true);
    load(2.6);
    rig.pass(Duration.ofSeconds(6), box);
    assertThat(rig.state("box/m-1")).as("it fell by too little").isEqualTo(State.REFUSED);
    load(1.8);
    rig.pass(Duration.ofSeconds(1), box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
    assertThat(candidate().slow()).as("its speed is looked at first").isTrue();
  }

  private void load(double average) {
    NodeFacts now = box.facts;
    box.facts =
        new NodeFacts(
            now.host(),
            now.os(),
            now.osVersion(),
            now.arch(),
            now.wsl(),
            now.cpu(),
            now.physicalCores(),
            now.logicalCores(),
            now.memoryTotalBytes(),
            now.memoryAvailableBytes(),
            average,
            now.accelerators(),
            now.engines());
    box.heartbeat();
  }

  @Test
  void aProofOfALaunchThatIsOverCountsForNothing() {
    ProofCandidate first = candidate();
    rig.fleet.proofBegins(first, "its shape");
    box.ready("box/m-1", 2);

    rig.fleet.proved(first, new ProofVerdict.Passed(0, ""));
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
    assertThat(rig.fleet.proofGoesOn(first, "its speed")).isFalse();
    assertThat(candidate().generation()).isEqualTo(2);
  }

  @Test
  void aProofThatBrokeOffIsWantedStill() {
    rig.fleet.proofBegins(candidate(), "its shape");
    assertThat(rig.fleet.proofCandidates()).isEmpty();
    rig.fleet.proved(
        new ProofCandidate(target(), rigSpec(), "", "", Optional.empty(), false, false, false),
        new ProofVerdict.Broken("the hub stops"));
    assertThat(rig.fleet.proofCandidates()).hasSize(1);
  }

  private Target target() {
    return new Target(
        "box/m-1",
        Target.Kind.WORKER,
        "m",
        "m",
        "llama-server",
        "box",
        1,
        4096,
        0,
        4,
        true,
        Target.Capability.TEXT,
        null,
        null,
        "127.0.0.1:1",
        "",
        (_, _) -> {
          throw new IOException("nobody calls it");
        });
  }

  private WorkerSpec rigSpec() {
    return box.told.stream()
        .filter(ControlMessage.Desired.class::isInstance)
        .map(ControlMessage.Desired.class::cast)
        .reduce((_, last) -> last)
        .orElseThrow()
        .workers()
        .getFirst();
  }

  @Test
  void aWorkerThatWasLostIsProvedWhenItIsBack() {
    rig.proveAll();
    rig.pass(Duration.ofSeconds(7));
    assertThat(rig.state("box/m-1")).isEqualTo(State.LOST);

    box = box.again().joins();
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
    assertThat(candidate().fresh()).as("an earlier proof may stand for it").isFalse();
    rig.proveAll();
    assertThat(rig.event("worker-back")).contains("is back and takes requests");
  }

  @Test
  void aServingWorkerThatIsProvedByHandFinishesWhatRunsFirst() {
    rig.proveAll();
    rig.inFlight.put("box/m-1#1", 1);

    assertThat(rig.fleet.prove("box/m-1", true, "kim"))
        .isEqualTo(
            new CommandResult.Done(
                "box/m-1 finishes what runs and is proved again.", List.of("box/m-1")));
    assertThat(rig.state("box/m-1")).isEqualTo(State.DRAINING);
    assertThat(targets()).containsExactly("box/m-1 not admitting");

    rig.inFlight.clear();
    rig.pass(Duration.ofMillis(500), box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);
    assertThat(candidate().fresh()).isTrue();
    assertThat(candidate().asReference()).isTrue();
    assertThat(targets()).isEmpty();
  }

  @Test
  void aRefusedWorkerIsProvedAtOnceByHand() {
    refused("wrong", false);
    assertThat(rig.fleet.prove("box/m-1", false, "kim")).isInstanceOf(CommandResult.Done.class);
    assertThat(candidate().fresh()).isTrue();
  }

  @Test
  void whatCannotBeProvedIsSaid() {
    assertThat(rig.fleet.prove("box", false, "kim"))
        .isEqualTo(new CommandResult.Refused("box is a node: name one of its workers, box/m-1."));
    assertThat(rig.fleet.prove("box/m-2", false, "kim"))
        .isEqualTo(new CommandResult.Unknown("box/m-2", List.of("box/m-1")));
    rig.fleet.proofBegins(candidate(), "its shape");
    assertThat(rig.fleet.prove("box/m-1", false, "kim"))
        .isEqualTo(new CommandResult.Refused("box/m-1 is being proved already."));
    box.ready("box/m-1", 2);
    box.reports(Fleets.report("box/m-1", 3, WorkerReport.Phase.STARTING, 40_000));
    assertThat(rig.fleet.prove("box/m-1", false, "kim"))
        .isEqualTo(
            new CommandResult.Refused("box/m-1 is being started; it is proved when it is ready."));
  }

  @Test
  void aSlowWorkerIsDrainedAndProvedAgainWhileAnotherServes() {
    rig.apply(2, model("m", 2));
    FleetRig.Agent other = rig.agent("other").joins();
    other.ready("other/m-1", 1);
    box.ready("box/m-2", 1);
    rig.proveAll();
    rig.inFlight.put("box/m-1#1", 1);

    assertThat(rig.fleet.proveAgain("box/m-1", 1, "answers at 8 tok/s of the 20 promised", true))
        .isTrue();
    assertThat(rig.state("box/m-1")).isEqualTo(State.DRAINING);
    assertThat(rig.event("worker-draining"))
        .contains(
            "box/m-1 answers at 8 tok/s of the 20 promised: it takes nothing new and is proved"
                + " again.");
    rig.pass(Duration.ofMinutes(3), box, other);
    assertThat(rig.state("box/m-1")).as("nothing is cut").isEqualTo(State.DRAINING);
    rig.inFlight.clear();
    rig.pass(Duration.ofMillis(500), box, other);
    assertThat(rig.state("box/m-1")).isEqualTo(State.PROVING);

    refused("8 tok/s of 20", true);
    rig.pass(Duration.ofSeconds(1), box, other);
    assertThat(rig.state("box/m-1")).as("it stays where it is").isEqualTo(State.REFUSED);
  }

  @Test
  void theLastWorkerIsNotDrainedForSlowness() {
    rig.proveAll();
    assertThat(rig.fleet.proveAgain("box/m-1", 1, "is slow", true)).isFalse();
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(rig.fleet.proveAgain("box/m-1", 1, "changed its shape", false)).isTrue();
  }

  @Test
  void aProofLimitsWhatAWorkerIsGivenAtOnce() {
    rig.fleet.proved(candidate(), new ProofVerdict.Passed(2, "measuring"));
    assertThat(name().targets().getFirst().slots()).isEqualTo(2);
    rig.fleet.proofNoted("box/m-1", 1, 1, "20 tok/s alone");
    assertThat(name().targets().getFirst().slots()).isEqualTo(1);
    assertThat(rig.worker("box/m-1").proof()).isEqualTo("20 tok/s alone");
  }
}
