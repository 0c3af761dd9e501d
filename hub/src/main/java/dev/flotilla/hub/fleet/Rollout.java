package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetNode.Contact;
import dev.flotilla.hub.fleet.NodeUpdate.Stage;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage.UpdateNow;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.lanes.ControlMessage.UpdateStep;
import dev.flotilla.wire.release.ReleaseVersion;
import java.util.Optional;

/**
 * Brings agents to the newest release that this hub has, one node after the other. Guarded by the
 * fleet's lock.
 *
 * <p><b>A turn.</b> The node is offered the version, and prepares it while it serves. When it is
 * ready there its workers drain, by the same rules as by hand; then it is told to take over. Its
 * agent says goodbye and comes back, with the new version or the one before. The turn is over when
 * its workers serve again, or can't; until then no other node has one, so of a model with workers
 * on two nodes one always serves.
 *
 * <p><b>No turn lasts.</b> Each stage has its limit ({@link RolloutLimits}; a drain has the
 * fleet's). A node that goes away before it was told to take over loses its turn and has another
 * when it is back; nothing was changed on it.
 *
 * <p><b>Not twice.</b> A node that declined or failed is asked again when its agent was started
 * anew, since its owner may have changed what it takes; whether a version that failed there is
 * taken once more the agent decides by the number of the offer.
 */
final class Rollout {
  private final Roster roster;
  private final FleetLimits fleetLimits;
  private final RolloutLimits limits;
  private Optional<UpdateOffered> offer = Optional.empty();
  private String turn = "";

  Rollout(Roster roster, FleetLimits fleetLimits, RolloutLimits limits) {
    this.roster = roster;
    this.fleetLimits = fleetLimits;
    this.limits = limits;
  }

  /** What agents are brought to from now on; empty for nothing. */
  void offer(Optional<UpdateOffered> next) {
    offer = next;
  }

  /** What time brings, and whose turn is next. */
  void advance(long now) {
    FleetNode node = roster.nodes.get(turn);
    if (node != null) {
      look(node, now);
      NodeUpdate update = node.update;
      if (update != null && !update.stage().isOver()) {
        return;
      }
    }
    turn = "";
    offer.ifPresent(next ->
        roster.nodes.values().stream()
            .filter(each -> isNext(each, next))
            .findFirst()
            .ifPresent(each -> begin(each, next, now)));
  }

  private static boolean isNext(FleetNode node, UpdateOffered next) {
    NodeUpdate last = node.update;
    return node.contact == Contact.HEARD
        && node.welcomed
        && ReleaseVersion.isOlder(node.agentVersion, next.release().version())
        && (last == null || !last.offer().equals(next) || last.generation() != node.generation);
  }

  private void begin(FleetNode node, UpdateOffered next, long now) {
    turn = node.name;
    node.update = new NodeUpdate(next, node.agentVersion, node.generation, Stage.OFFERED, "", now);
    roster.events.updateOffered(node, node.update);
    roster.changed = true;
    node.tell(next);
  }

  private void look(FleetNode node, long now) {
    NodeUpdate update = node.update;
    if (update == null) {
      return;
    }
    long waited = now - update.since();
    switch (update.stage()) {
      case OFFERED -> {
        if (!leaveIfAway(node) && waited >= limits.answer().toNanos()) {
          end(node, Stage.DECLINED, "its agent does not answer to offers; update it by hand", now);
        }
      }
      case PREPARING -> {
        if (!leaveIfAway(node) && waited >= limits.prepare().toNanos()) {
          end(
              node,
              Stage.FAILED,
              "it was not ready within " + limits.prepare().toMinutes() + " min",
              now);
        }
      }
      case DRAINING -> {
        boolean late = waited >= fleetLimits.drain().toNanos();
        if (!leaveIfAway(node)
            && (late || node.workers.values().stream().allMatch(Rollout::rests))) {
          node.tell(new UpdateNow(update.version()));
          step(node, Stage.REPLACING, now);
        }
      }
      case REPLACING -> {
        if (waited >= limits.back().toNanos()) {
          end(
              node,
              Stage.FAILED,
              "the node has not come back within " + limits.back().toMinutes() + " min",
              now);
        }
      }
      case SETTLING -> {
        if (waited >= limits.settle().toNanos()
            || node.workers.values().stream().allMatch(Rollout::isThrough)) {
          step(node, Stage.DONE, now);
        }
      }
      case DONE, DECLINED, FAILED -> {
        // The turn is over.
      }
    }
  }

  /** Nothing was changed there: it is offered anew when it is back. */
  private boolean leaveIfAway(FleetNode node) {
    if (node.isConnected()) {
      return false;
    }
    node.update = null;
    roster.changed = true;
    return true;
  }

  /** Nothing runs in it, or what ran was cut. */
  private static boolean rests(FleetWorker worker) {
    return worker.drainTold || (worker.state != State.DRAINING && worker.state != State.SUSPECT);
  }

  /** It serves, or nobody can say when it will. */
  private static boolean isThrough(FleetWorker worker) {
    return worker.isLeaving()
        || worker.state == State.SERVING
        || worker.state == State.DRAINING
        || worker.state == State.REFUSED
        || (worker.report != null && worker.report.phase() == Phase.WAITING);
  }

  /** An agent's word on a version. */
  void said(FleetNode node, UpdateStep step, long now) {
    NodeUpdate update = node.update;
    if (update == null
        || !update.version().equals(step.version())
        || update.offer().attempt() != step.attempt()
        || update.stage().isOver()) {
      if (step.stage() == UpdateStep.Stage.FAILED) {
        // Of an offer that this hub has forgotten: it was restarted meanwhile.
        roster.events.updateFailed(node, step.version(), step.reason());
      }
      return;
    }
    switch (step.stage()) {
      case DECLINED -> end(node, Stage.DECLINED, step.reason(), now);
      case FAILED -> end(node, Stage.FAILED, step.reason(), now);
      case FETCHING -> {
        if (update.stage() == Stage.OFFERED) {
          step(node, Stage.PREPARING, now);
        }
      }
      case READY -> {
        if (update.stage() == Stage.OFFERED || update.stage() == Stage.PREPARING) {
          node.workers.values().stream()
              .filter(worker -> worker.commandedBy().isEmpty())
              .forEach(worker -> worker.drainTold = false);
          step(node, Stage.DRAINING, now);
          roster.events.updateReady(node, update.version());
        }
      }
    }
  }

  /** The node's agent introduced itself. */
  void back(FleetNode node, long now) {
    NodeUpdate update = node.update;
    if (update == null || update.stage() != Stage.REPLACING) {
      return;
    }
    if (node.agentVersion.equals(update.version())) {
      step(node, Stage.SETTLING, now);
      roster.events.updateDone(node, update);
    }
    // With the version before it says what went wrong; where it does not, the limit ends the turn.
  }

  private void step(FleetNode node, Stage stage, long now) {
    NodeUpdate update = node.update;
    if (update != null) {
      node.update = update.to(stage, "", now);
      roster.changed = true;
    }
  }

  private void end(FleetNode node, Stage stage, String why, long now) {
    NodeUpdate update = node.update;
    if (update == null) {
      return;
    }
    // Of the agent of now: only one that is started later is asked again.
    node.update = new NodeUpdate(update.offer(), update.before(), node.generation, stage, why, now);
    roster.changed = true;
    if (stage == Stage.DECLINED) {
      roster.events.updateDeclined(node, update.version(), why);
    } else {
      roster.events.updateFailed(node, update.version(), why);
    }
  }
}
