package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetNode.Contact;
import dev.flotilla.hub.fleet.FleetWorker.Exit;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import java.util.Optional;

/**
 * Restarts of whole nodes: one worker after the other, so that the others go on serving. Guarded by
 * the fleet's lock.
 *
 * <p>A node holds the workers whose turn is still to come; the first of them is ordered when the
 * one before it {@linkplain #isThrough is through}. While a node is out of contact its turn waits.
 * Where its agent ended or the grace is over, what is left of the order is dropped: what such a
 * node runs later was started anew anyway. How long one worker may take is bounded by its agent,
 * which gives up a launch that does not become ready.
 */
final class RollingRestarts {
  private final Roster roster;

  RollingRestarts(Roster roster) {
    this.roster = roster;
  }

  /** Puts all workers of the node in line; one that waits already keeps its turn. */
  void order(FleetNode node, String by) {
    node.restartsBy = by;
    node.workers.values().stream()
        .filter(worker -> !worker.isLeaving() && worker.exit == Exit.STAYS)
        .map(FleetWorker::id)
        .filter(id -> !node.restarts.contains(id) && !id.equals(node.restarting))
        .forEach(node.restarts::add);
  }

  /** Orders whose turn has come. */
  void advance(long now) {
    for (FleetNode node : roster.nodes.values()) {
      if (node.contact == Contact.ENDED || node.gone) {
        node.restarts.clear();
        node.restarting = "";
      }
      while (node.contact == Contact.HEARD && turnIsOver(node) && !node.restarts.isEmpty()) {
        node.restarting = node.restarts.removeFirst();
        worker(node)
            .filter(next -> !next.isLeaving())
            .ifPresent(next -> begin(next, node.restartsBy, now));
      }
    }
  }

  /** One worker finishes what runs, and its agent is told to start it again. */
  void begin(FleetWorker worker, String by, long now) {
    worker.exit = Exit.RESTARTS;
    worker.exitWhy = "restarted by " + by;
    if (worker.state == State.SERVING
        || worker.state == State.DRAINING
        || worker.state == State.SUSPECT) {
      worker.drainTold = false;
      worker.drainSince = now;
      roster.changed = true;
    } else {
      roster.relaunch(worker, now);
    }
  }

  private boolean turnIsOver(FleetNode node) {
    if (worker(node).filter(worker -> !isThrough(worker)).isPresent()) {
      return false;
    }
    node.restarting = "";
    return true;
  }

  private static Optional<FleetWorker> worker(FleetNode node) {
    return Optional.ofNullable(node.workers.get(node.restarting));
  }

  /** It was proved again, or its launch failed, or it is on its way out. */
  private static boolean isThrough(FleetWorker worker) {
    if (worker.isLeaving()) {
      return true;
    }
    if (worker.exit == Exit.RESTARTS || worker.awaitsLaunch() || worker.report == null) {
      return false;
    }
    Phase phase = worker.report.phase();
    return (phase == Phase.READY && worker.state != State.STARTING && worker.state != State.PROVING)
        || phase == Phase.WAITING
        || phase == Phase.REFUSED
        || phase == Phase.STOPPED;
  }
}
