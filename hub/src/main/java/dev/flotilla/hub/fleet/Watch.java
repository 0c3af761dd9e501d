package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetNode.Contact;
import dev.flotilla.hub.fleet.FleetWorker.Exit;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.lanes.AgentLink;
import dev.flotilla.hub.lanes.WorkLanes;
import java.time.Duration;
import java.util.List;
import java.util.function.ToIntFunction;

/** What happens to the fleet because time passes: silence, graces, drains. Guarded by its lock. */
final class Watch {
  private static final Duration STEP = Duration.ofSeconds(10);

  private final Roster roster;
  private final WorkLanes lanes;
  private final FleetEvents events;
  private final FleetLimits limits;
  private final ToIntFunction<String> inFlight;

  Watch(Roster roster, WorkLanes lanes, FleetLimits limits, ToIntFunction<String> inFlight) {
    this.roster = roster;
    this.lanes = lanes;
    this.events = roster.events;
    this.limits = limits;
    this.inFlight = inFlight;
  }

  /** Looks for silence and for graces that are over. */
  void contacts(long now) {
    for (FleetNode node : roster.nodes.values()) {
      long silence = now - node.heardNanos;
      if (node.contact == Contact.HEARD && silence >= limits.suspectAfter().toNanos()) {
        node.contact = Contact.SILENT;
        node.contactReason = "node " + node.name + " is silent";
        events.nodeSilent(node, Duration.ofNanos(silence));
      }
      boolean overdue =
          node.isConnected()
              ? silence >= limits.lostAfter().toNanos()
              : now - node.awaySince >= limits.lostAfter().toNanos();
      if (overdue && (node.isConnected() || node.contact == Contact.TORN)) {
        lose(node, "node " + node.name + " has not been heard for three heartbeats", now);
      }
      if (!node.isConnected() && !node.gone && now - node.awaySince >= limits.away().toNanos()) {
        node.gone = true;
        node.replacedInSeconds = 0;
        roster.changed = true;
        events.nodeGone(node, limits.away());
      }
      countDown(node, now);
    }
  }

  /** Told in steps: a snapshot of the fleet is not made anew for each second. */
  private void countDown(FleetNode node, long now) {
    int seconds = 0;
    if (!node.isConnected() && !node.gone) {
      long left = limits.away().toNanos() - (now - node.awaySince);
      seconds = (int) Math.ceilDiv(left, STEP.toNanos()) * (int) STEP.toSeconds();
    }
    if (seconds != node.replacedInSeconds) {
      node.replacedInSeconds = seconds;
      roster.changed |= !node.workers.isEmpty();
    }
  }

  /**
   * Takes workers out of the listing that count for nothing: their node is gone. Where its agent
   * took leave they can't be running, and go as soon as others serve what they served; else they
   * stay to be seen for a while. A node that comes back with some of them has them taken in anew.
   */
  void dropAbsent(long now) {
    for (FleetNode node : roster.nodes.values()) {
      if (node.gone && !node.workers.isEmpty()) {
        boolean over = now - node.awaySince >= limits.away().plus(limits.shown()).toNanos();
        for (FleetWorker worker : List.copyOf(node.workers.values())) {
          if (over || (node.contact == Contact.ENDED && isReplaced(worker))) {
            roster.drop(worker);
          }
        }
      }
    }
  }

  private boolean isReplaced(FleetWorker worker) {
    return roster.workers().stream()
        .filter(other -> other.spec.model().equals(worker.spec.model()))
        .anyMatch(other -> !other.node.gone && other.state == State.SERVING);
  }

  private void lose(FleetNode node, String why, long now) {
    AgentLink link = node.link;
    roster.disconnect(node, Contact.LOST, why, now);
    if (link != null) {
      link.cut(why);
    }
  }

  /** Ends drains that are over. Called after the drain has been seen by those who send requests. */
  void finishDrains(long now) {
    for (FleetWorker worker : roster.workers()) {
      boolean holds = worker.exit != Exit.STAYS || !worker.commandedBy().isEmpty();
      if (!holds || worker.dismissed || (worker.exit == Exit.STAYS && worker.drainTold)) {
        continue;
      }
      boolean draining = worker.state == State.DRAINING || worker.state == State.SUSPECT;
      int running = draining ? inFlight.applyAsInt(worker.ledgerKey()) : 0;
      boolean late = !worker.unhurried && now - worker.drainSince >= limits.drain().toNanos();
      boolean unreachable = worker.exit == Exit.RESTARTS && !worker.node.isConnected();
      if ((running > 0 && !late) || unreachable) {
        continue;
      }
      if (running > 0) {
        lanes.pool(worker.node.name).cut(worker.id());
      }
      if (draining) {
        events.drained(worker, running, limits.drain());
        worker.drainTold = true;
      }
      switch (worker.exit) {
        case STAYS -> {}
        case STOPS -> roster.dismiss(worker, now);
        case RESTARTS -> roster.relaunch(worker, now);
        case PROVES -> roster.reprove(worker, now);
      }
    }
  }
}
