package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetWorker.Exit;
import dev.flotilla.hub.fleet.WorkerView.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What people order by hand. Guarded by the fleet's lock. */
final class Commands {
  private final Roster roster;

  Commands(Roster roster) {
    this.roster = roster;
  }

  CommandResult drain(String name, String by) {
    FleetNode node = roster.nodes.get(name);
    if (node != null) {
      if (node.drainedBy.isEmpty()) {
        node.drainedBy = by;
        node.workers.values().forEach(worker -> worker.drainTold = false);
        events().nodeDrained(node, by);
        roster.changed = true;
      }
      return done(
          "Node %s takes nothing new; %s finish what runs.",
          name, node.workers.values().size(), names(node));
    }
    Optional<FleetWorker> worker = roster.worker(name);
    if (worker.isEmpty()) {
      return unknown(name);
    }
    if (worker.get().isLeaving()) {
      return leaving(worker.get());
    }
    if (worker.get().drainedBy.isEmpty()) {
      worker.get().drainedBy = by;
      worker.get().drainTold = false;
      events().drainAsked(worker.get(), by);
      roster.changed = true;
    }
    return new CommandResult.Done(
        name + " takes nothing new and finishes what runs.", List.of(name));
  }

  CommandResult resume(String name, String by) {
    FleetNode node = roster.nodes.get(name);
    if (node != null) {
      if (node.drainedBy.isEmpty()) {
        return new CommandResult.Refused("Node " + name + " is not drained.");
      }
      node.drainedBy = "";
      events().nodeResumed(node, by);
      roster.changed = true;
      return done("Node %s takes requests again, with %s.", name, node.workers.size(), names(node));
    }
    Optional<FleetWorker> worker = roster.worker(name);
    if (worker.isEmpty()) {
      return unknown(name);
    }
    if (worker.get().isLeaving()) {
      return leaving(worker.get());
    }
    if (worker.get().drainedBy.isEmpty()) {
      String nodeName = worker.get().node.name;
      return new CommandResult.Refused(
          worker.get().node.drainedBy.isEmpty()
              ? name + " is not drained."
              : "It is node %s that is drained: resume the node.".formatted(nodeName));
    }
    worker.get().drainedBy = "";
    events().resumed(worker.get(), by);
    roster.changed = true;
    return new CommandResult.Done(name + " takes requests again.", List.of(name));
  }

  CommandResult restart(String name, String by, long now) {
    FleetNode node = roster.nodes.get(name);
    Optional<FleetWorker> worker = roster.worker(name);
    if (node == null && worker.isEmpty()) {
      return unknown(name);
    }
    if (worker.isPresent() && worker.get().isLeaving()) {
      return leaving(worker.get());
    }
    FleetNode home = node == null ? worker.orElseThrow().node : node;
    if (!home.isConnected()) {
      return new CommandResult.Refused(
          "Node " + home.name + " is not connected: nothing can be started there now.");
    }
    List<FleetWorker> workers =
        node == null ? List.of(worker.orElseThrow()) : List.copyOf(node.workers.values());
    List<String> restarted = new ArrayList<>();
    for (FleetWorker each : workers) {
      if (!each.isLeaving()) {
        order(each, by, now);
        restarted.add(each.id());
      }
    }
    return new CommandResult.Done(
        restarted.isEmpty()
            ? "Node " + name + " has no worker."
            : String.join(", ", restarted) + " finishes what runs and is started again.",
        restarted);
  }

  CommandResult forget(String name, String by) {
    FleetNode node = roster.nodes.get(name);
    if (node == null) {
      return new CommandResult.Unknown(name, NearestNames.of(name, roster.nodes.keySet()));
    }
    if (node.isConnected()) {
      return new CommandResult.Refused(
          "Node " + name + " is connected: stop its agent first, then forget it.");
    }
    List<String> workers = names(node);
    roster.remove(node);
    events().nodeForgotten(name, by, workers.size());
    return new CommandResult.Done(
        "Node " + name + " is forgotten: another agent may take its name.", workers);
  }

  private void order(FleetWorker worker, String by, long now) {
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

  private CommandResult unknown(String name) {
    List<String> names = new ArrayList<>(roster.nodes.keySet());
    roster.workers().forEach(worker -> names.add(worker.id()));
    return new CommandResult.Unknown(name, NearestNames.of(name, names));
  }

  private static CommandResult leaving(FleetWorker worker) {
    return new CommandResult.Refused(
        worker.id() + " is about to be stopped: " + worker.exitWhy + ".");
  }

  private static CommandResult done(String sentence, String name, int workers, List<String> names) {
    return new CommandResult.Done(
        sentence.formatted(name, FleetEvents.count(workers, "worker")), names);
  }

  private static List<String> names(FleetNode node) {
    return List.copyOf(node.workers.keySet());
  }

  private FleetEvents events() {
    return roster.events;
  }
}
