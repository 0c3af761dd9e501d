package dev.flotilla.hub.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.fleet.FleetRig.Agent;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.wire.lanes.ControlMessage.Goodbye;
import dev.flotilla.wire.lanes.ControlMessage.UpdateNow;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep.Stage;
import dev.flotilla.wire.release.Release;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A release goes round a fleet, one node after the other. */
class RolloutTest {
  private static final Duration MOMENT = Duration.ofSeconds(1);
  private static final UpdateOffered OFFER = offer("0.2", 1);

  private final FleetRig rig = new FleetRig();

  @Test
  void oneNodeAfterTheOtherSoThatOneServesAlways() {
    Agent box = rig.agent("box").joins();
    Agent den = rig.agent("den").joins();
    rig.apply(1, Fleets.model("m", 2));
    serves(box);
    serves(den);

    rig.fleet.offer(Optional.of(OFFER));
    rig.pass(MOMENT, box, den);
    assertThat(offers(box)).containsExactly(OFFER);
    assertThat(offers(den)).isEmpty();

    says(box, Stage.FETCHING, "");
    rig.pass(MOMENT, box, den);
    assertThat(rig.state("box/m-1")).as("it serves while it fetches").isEqualTo(State.SERVING);

    rig.inFlight.put("box/m-1#1", 1);
    says(box, Stage.READY, "");
    rig.pass(MOMENT, box, den);
    assertThat(rig.state("box/m-1")).isEqualTo(State.DRAINING);
    assertThat(rig.worker("box/m-1").commandedBy()).isEqualTo("the update to 0.2");
    assertThat(orders(box)).as("something runs").isEmpty();

    rig.inFlight.clear();
    rig.pass(MOMENT, box, den);
    assertThat(orders(box)).containsExactly(new UpdateNow("0.2"));
    Agent next = replaced(box, "0.2");
    rig.pass(Duration.ofSeconds(5), next, den);
    assertThat(rig.event("update-done")).contains("Node box runs version 0.2, generation 2");
    assertThat(next.desired()).as("its work is placed at once").containsExactly("box/m-1");
    assertThat(offers(den)).as("its worker does not serve yet").isEmpty();

    next.ready("box/m-1", 2);
    rig.pass(MOMENT, next, den);
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(offers(den)).containsExactly(OFFER);
    assertThat(rig.fleet.node("box").orElseThrow().update()).isEqualTo("version 0.2 runs");
    rig.pass(Duration.ofMinutes(1), next, den);
    assertThat(offers(next)).as("it is not older").isEmpty();
  }

  @Test
  void whatDoesNotFinishWithinTheDrainsLimitIsCut() {
    rig.apply(1, Fleets.model("m", 1));
    Agent box = serving("box");
    rig.fleet.offer(Optional.of(OFFER));
    rig.pass(MOMENT, box);
    rig.inFlight.put("box/m-1#1", 2);
    says(box, Stage.READY, "");

    rig.pass(FleetLimits.DEFAULT.drain().minus(MOMENT), box);
    assertThat(orders(box)).isEmpty();
    rig.pass(MOMENT.multipliedBy(2), box);
    assertThat(orders(box)).hasSize(1);
    assertThat(rig.event("worker-drained")).contains("2 requests were cut");
  }

  @Test
  void aNodeThatDeclinesKeepsServingAndIsAskedAgainWhenItsAgentIsStartedAnew() {
    rig.apply(1, Fleets.model("m", 1));
    Agent box = serving("box");
    Agent den = rig.agent("den").joins();
    rig.fleet.offer(Optional.of(OFFER));
    rig.pass(MOMENT, box, den);
    says(box, Stage.DECLINED, "its policy names no key");
    rig.pass(MOMENT, box, den);

    assertThat(rig.event("update-declined"))
        .contains("Node box does not take version 0.2: its policy names no key.");
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(offers(den)).as("the next one's turn").hasSize(1);
    says(den, Stage.DECLINED, "no");
    rig.pass(Duration.ofMinutes(5), box, den);
    box = box.again().joins();
    rig.pass(MOMENT, box, den);
    assertThat(offers(box)).as("the same agent on another connection").isEmpty();

    box.breaks();
    Agent started = box.startsAnew("0.1").joins();
    rig.pass(MOMENT, started, den);
    assertThat(offers(started)).hasSize(1);
  }

  @Test
  void aVersionThatFailedSaysWhyAndTheNodeServesWithTheOneBefore() {
    rig.apply(1, Fleets.model("m", 1));
    Agent box = serving("box");
    rig.fleet.offer(Optional.of(OFFER));
    rig.pass(MOMENT, box);
    says(box, Stage.READY, "");
    rig.pass(MOMENT, box);

    Agent back = replaced(box, "0.1");
    says(back, Stage.FAILED, "it had not connected to the hub within 60 s");
    rig.pass(MOMENT, back);

    assertThat(rig.event("update-failed"))
        .contains(
            "Node box stays with version 0.1, version 0.2 failed: it had not connected to the hub"
                + " within 60 s.");
    back.ready("box/m-1", 2);
    rig.pass(Duration.ofMinutes(10), back);
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(offers(back)).as("not again by itself").isEmpty();

    rig.fleet.offer(Optional.of(offer("0.2", 2)));
    rig.pass(MOMENT, back);
    assertThat(offers(back)).as("offered again by a person").hasSize(1);
  }

  @Test
  void whatFailedIsHeardAlsoByAHubThatForgotItsOffer() {
    Agent box = rig.agent("box").joins();
    says(box, Stage.FAILED, "it ended with code 3");
    assertThat(rig.event("update-failed")).contains("it ended with code 3");
  }

  @Test
  void aNodeThatGoesAwayLosesItsTurnAndHasAnotherWhenItIsBack() {
    Agent box = rig.agent("box").joins();
    Agent den = rig.agent("den").joins();
    rig.apply(1, Fleets.model("m", 2));
    serves(box);
    serves(den);
    rig.fleet.offer(Optional.of(OFFER));
    rig.pass(MOMENT, box, den);
    says(box, Stage.READY, "");
    box.breaks();
    rig.pass(MOMENT, den);
    assertThat(orders(box)).isEmpty();
    assertThat(offers(den)).hasSize(1);
    says(den, Stage.DECLINED, "no");

    Agent back = box.again().joins();
    rig.pass(MOMENT, back, den);
    assertThat(rig.state("box/m-1")).as("it is not drained any more").isEqualTo(State.SERVING);
    assertThat(offers(back)).hasSize(1);
  }

  @Test
  void noNodeHoldsTheOthersUpForEver() {
    Agent box = rig.agent("box").joins();
    Agent cab = rig.agent("cab").joins();
    Agent den = rig.agent("den").joins();
    rig.fleet.offer(Optional.of(OFFER));

    rig.pass(RolloutLimits.DEFAULT.answer().plus(MOMENT), box, cab, den);
    assertThat(rig.event("update-declined")).contains("its agent does not answer to offers");

    assertThat(offers(cab)).hasSize(1);
    says(cab, Stage.FETCHING, "");
    rig.pass(RolloutLimits.DEFAULT.prepare().plus(MOMENT), box, cab, den);
    assertThat(rig.event("update-failed")).contains("it was not ready within 30 min");

    assertThat(offers(den)).hasSize(1);
    says(den, Stage.READY, "");
    rig.pass(MOMENT, box, cab, den);
    den.says(new Goodbye("It is replaced by version 0.2."));
    rig.pass(RolloutLimits.DEFAULT.back().plus(MOMENT), box, cab);
    assertThat(rig.event("update-failed")).contains("the node has not come back within 5 min");
  }

  @Test
  void whatANodeSaysOutOfTurnChangesNothing() {
    rig.apply(1, Fleets.model("m", 1));
    Agent box = serving("box");
    says(box, Stage.READY, "");
    box.says(new UpdateStep("9.9", 7, Stage.READY, ""));
    rig.pass(MOMENT, box);
    assertThat(rig.state("box/m-1")).isEqualTo(State.SERVING);
    assertThat(orders(box)).isEmpty();
  }

  @Test
  void aWithdrawnReleaseIsOfferedToNobody() {
    Agent box = rig.agent("box").joins();
    rig.fleet.offer(Optional.of(OFFER));
    rig.fleet.offer(Optional.empty());
    rig.pass(MOMENT, box);
    assertThat(offers(box)).isEmpty();
  }

  /** Its agent says goodbye, and another process of it dials. */
  private Agent replaced(Agent agent, String version) {
    agent.says(new Goodbye("It is replaced by version 0.2."));
    rig.pass(Duration.ofSeconds(3));
    assertThat(rig.state(agent.node + "/m-1")).isEqualTo(State.STOPPED);
    return agent.startsAnew(version).joins();
  }

  private Agent serving(String node) {
    Agent agent = rig.agent(node).joins();
    serves(agent);
    return agent;
  }

  private void serves(Agent agent) {
    agent.ready(agent.node + "/m-1", 1);
    assertThat(rig.state(agent.node + "/m-1")).isEqualTo(State.SERVING);
  }

  private static void says(Agent agent, Stage stage, String reason) {
    agent.says(new UpdateStep("0.2", 1, stage, reason));
  }

  private static UpdateOffered offer(String version, long attempt) {
    return new UpdateOffered(new Release(version, 1, "00".repeat(32), ""), attempt);
  }

  private static List<UpdateOffered> offers(Agent agent) {
    return agent.told.stream()
        .filter(UpdateOffered.class::isInstance)
        .map(UpdateOffered.class::cast)
        .toList();
  }

  private static List<UpdateNow> orders(Agent agent) {
    return agent.told.stream()
        .filter(UpdateNow.class::isInstance)
        .map(UpdateNow.class::cast)
        .toList();
  }
}
