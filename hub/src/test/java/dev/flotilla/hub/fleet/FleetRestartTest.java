package dev.flotilla.hub.fleet;

import static dev.flotilla.hub.fleet.Fleets.model;
import static dev.flotilla.hub.fleet.Fleets.report;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.lanes.ControlMessage.RestartWorker;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Restarts and drains by hand, and workers whose node went away. */
class FleetRestartTest {
  private final FleetRig rig = new FleetRig();

  private FleetSnapshot.Name name(String name) {
    FleetSnapshot.Name found = rig.fleet.current().names().get(name);
    if (found == null) {
      throw new AssertionError("no name " + name);
    }
    return found;
  }

  private FleetRig.Agent twoServe() {
    rig.apply(1, model("m", 2));
    FleetRig.Agent agent = rig.agent("two").joins();
    agent.ready("two/m-1", 1);
    agent.ready("two/m-2", 2);
    return agent;
  }

  private static String said(CommandResult result) {
    assertThat(result).isInstanceOf(CommandResult.Done.class);
    return ((CommandResult.Done) result).message();
  }

  private static List<ControlMessage.FromHub> restarts(FleetRig.Agent agent) {
    return agent.told.stream().filter(RestartWorker.class::isInstance).toList();
  }

  @Test
  void requestsWaitForTheOnlyWorkerThroughoutItsRestart() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("one").joins();
    agent.ready("one/m-1", 1);
    rig.inFlight.put("one/m-1#1", 1);

    assertThat(said(rig.fleet.restart("one/m-1", "ann")))
        .isEqualTo("one/m-1 finishes what runs and is started again.");
    assertThat(rig.state("one/m-1")).isEqualTo(State.DRAINING);
    assertThat(name("m").coming()).as("while what runs is finished").isEqualTo(1);

    rig.inFlight.clear();
    rig.pass(Duration.ofSeconds(1), agent);
    assertThat(name("m").coming()).as("while it is told").isEqualTo(1);
    for (Phase phase : List.of(Phase.STOPPING, Phase.STOPPED)) {
      agent.reports(report("one/m-1", 1, phase, 0));
      assertThat(name("m").coming()).as("%s", phase).isEqualTo(1);
    }
    agent.reports(report("one/m-1", 2, Phase.STARTING, 0));
    assertThat(name("m").coming()).isEqualTo(1);
    agent.ready("one/m-1", 2);
    assertThat(name("m").coming()).isZero();
    assertThat(rig.state("one/m-1")).isEqualTo(State.SERVING);
  }

  @Test
  void aNodeIsRestartedOneWorkerAfterTheOther() {
    FleetRig.Agent agent = twoServe();

    assertThat(said(rig.fleet.restart("two", "ann")))
        .isEqualTo("two/m-1, two/m-2 finish what runs and are started again, one after the other.");
    rig.pass(Duration.ofSeconds(5), agent);
    assertThat(restarts(agent)).containsExactly(new RestartWorker("two/m-1"));
    assertThat(rig.state("two/m-2")).as("serves meanwhile").isEqualTo(State.SERVING);

    agent.ready("two/m-1", 3);
    rig.pass(Duration.ofSeconds(2), agent);
    assertThat(restarts(agent))
        .containsExactly(new RestartWorker("two/m-1"), new RestartWorker("two/m-2"));
    assertThat(rig.state("two/m-1")).isEqualTo(State.SERVING);
    agent.ready("two/m-2", 4);
    rig.pass(Duration.ofSeconds(5), agent);
    assertThat(restarts(agent)).hasSize(2);
  }

  @Test
  void aLaunchThatFailsLetsTheNextWorkerHaveItsTurn() {
    FleetRig.Agent agent = twoServe();
    rig.fleet.restart("two", "ann");
    rig.pass(Duration.ofSeconds(1), agent);

    agent.reports(report("two/m-1", 3, Phase.WAITING, 0, "it exited with 1"));
    rig.pass(Duration.ofSeconds(1), agent);

    assertThat(restarts(agent)).contains(new RestartWorker("two/m-2"));
  }

  @Test
  void aWorkerDrainedByItsOwnNameStaysSoAndTheAnswersSayIt() {
    twoServe();
    rig.fleet.drain("two/m-2", "ann");
    assertThat(said(rig.fleet.restart("two/m-2", "ann")))
        .isEqualTo(
            "two/m-2 finishes what runs and is started again. two/m-2 stays drained: 'flotilla resume two/m-2' lets it take requests again.");
    assertThat(name("m").coming()).as("nobody waits for what stays drained").isZero();

    assertThat(said(rig.fleet.drain("two", "ann")))
        .isEqualTo("Node two takes nothing new; 2 workers finish what runs.");
    assertThat(said(rig.fleet.resume("two/m-2", "ann")))
        .isEqualTo(
            "two/m-2 is no longer drained by its own name, but node two is: 'flotilla resume two' lets it take requests again.");
    rig.fleet.drain("two/m-2", "ann");
    CommandResult resumed = rig.fleet.resume("two", "ann");
    assertThat(said(resumed))
        .isEqualTo(
            "Node two takes requests again, with 1 worker. two/m-2 stays drained: 'flotilla resume two/m-2' lets it take requests again.");
    assertThat(((CommandResult.Done) resumed).workers()).containsExactly("two/m-1");
    assertThat(rig.state("two/m-1")).isEqualTo(State.SERVING);
  }

  @Test
  void whileALostWorkerIsWaitedForItIsSaidWhenItIsReplaced() {
    rig.apply(1, model("m", 1));
    FleetRig.Agent agent = rig.agent("two").joins();
    agent.ready("two/m-1", 1);
    agent.breaks();
    rig.pass(Duration.ofSeconds(15));
    assertThat(name("m").explanation())
        .startsWith("m: 1 worker is lost (node two")
        .endsWith("; replaced in 50 s where another node can take it)");
    rig.pass(Duration.ofSeconds(50));
    assertThat(name("m").explanation()).doesNotContain("replaced in");
  }

  @Test
  void workersOfANodeThatEndedLeaveTheListingOnceOthersServeOrAfterAWhile() {
    rig.apply(1, model("m", 1), model("n", 1));
    FleetRig.Agent two = rig.agent("two").joins();
    two.ready("two/m-1", 1);
    two.ready("two/n-1", 2);
    FleetRig.Agent one = rig.agent("one").joins();
    two.says(new ControlMessage.Goodbye("stopped by hand"));
    assertThat(rig.state("two/m-1")).isEqualTo(State.STOPPED);
    rig.pass(Duration.ofSeconds(61), one);
    assertThat(rig.fleet.worker("two/m-1")).isPresent();

    one.ready("one/m-1", 1);
    rig.pass(Duration.ofSeconds(1), one);
    assertThat(rig.fleet.worker("two/m-1")).as("replaced").isEmpty();
    assertThat(rig.fleet.worker("two/n-1")).as("not replaced yet").isPresent();

    rig.pass(Duration.ofMinutes(10), one);
    assertThat(rig.fleet.worker("two/n-1")).isEmpty();
    assertThat(rig.fleet.node("two").orElseThrow().workers()).isZero();
  }
}
