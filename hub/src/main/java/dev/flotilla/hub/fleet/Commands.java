package dev.flotilla.hub.fleet;

import dev.flotilla.wire.text.Counted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What people order by hand. Guarded by the fleet's lock. */
final class Commands {
  private final Roster roster;
  private final RollingRestarts restarts;

  Commands(Roster roster, RollingRestarts restarts) {
    this.roster = roster;
    this.restarts = restarts;
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
          "Node %s takes nothing new; %s what runs.".formatted(name, finish(names(node))),
          names(node));
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
      return resumed(node);
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
    String home = worker.get().node.name;
    if (!worker.get().node.drainedBy.isEmpty()) {
      return new CommandResult.Done(
          "%s is no longer drained by its own name, but node %s is: 'flotilla resume %s' lets it take requests again."
              .formatted(name, home, home),
          List.of(name));
    }
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
    if (node == null) {
      restarts.begin(worker.orElseThrow(), by, now);
      return restarted(List.of(worker.orElseThrow()));
    }
    List<FleetWorker> staying =
        node.workers.values().stream().filter(each -> !each.isLeaving()).toList();
    restarts.order(node, by);
    restarts.advance(now);
    return staying.isEmpty()
        ? new CommandResult.Done("Node " + name + " has no worker.", List.of())
        : restarted(staying);
  }

  /** What will happen, and what a restart does not change. */
  private static CommandResult restarted(List<FleetWorker> workers) {
    List<String> names = workers.stream().map(FleetWorker::id).toList();
    return done(
        String.join(", ", names)
            + (names.size() == 1
                ? " finishes what runs and is started again."
                : " finish what runs and are started again, one after the other.")
            + stayDrained(workers),
        names);
  }

  /** How those that stay drained take requests again; empty where none does. */
  private static String stayDrained(List<FleetWorker> workers) {
    List<String> own =
        workers.stream()
            .filter(worker -> !worker.drainedBy.isEmpty())
            .map(FleetWorker::id)
            .toList();
    StringBuilder said = new StringBuilder();
    if (!own.isEmpty()) {
      said.append(' ')
          .append(String.join(", ", own))
          .append(own.size() == 1 ? " stays drained: " : " stay drained: ")
          .append(
              String.join(", ", own.stream().map(id -> "'flotilla resume " + id + "'").toList()))
          .append(
              own.size() == 1 ? " lets it take requests again." : " let them take requests again.");
    }
    workers.stream()
        .map(worker -> worker.node)
        .filter(node -> !node.drainedBy.isEmpty())
        .findFirst()
        .ifPresent(node ->
            said.append(
                " Node %s stays drained: 'flotilla resume %s' lets it take requests again."
                    .formatted(node.name, node.name)));
    return said.toString();
  }

  private static CommandResult resumed(FleetNode node) {
    List<FleetWorker> staying =
        node.workers.values().stream().filter(each -> !each.isLeaving()).toList();
    List<String> again =
        staying.stream().filter(each -> each.drainedBy.isEmpty()).map(FleetWorker::id).toList();
    return done(
        "Node %s takes requests again, with %s.%s"
            .formatted(node.name, Counted.of(again.size(), "worker"), stayDrained(staying)),
        again);
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

  private CommandResult unknown(String name) {
    List<String> names = new ArrayList<>(roster.nodes.keySet());
    roster.workers().forEach(worker -> names.add(worker.id()));
    return new CommandResult.Unknown(name, NearestNames.of(name, names));
  }

  private static CommandResult leaving(FleetWorker worker) {
    return new CommandResult.Refused(
        worker.id() + " is about to be stopped: " + worker.exitWhy + ".");
  }

  private static CommandResult done(String sentence, List<String> names) {
    return new CommandResult.Done(sentence, names);
  }

  private static String finish(List<String> workers) {
    return Counted.of(workers.size(), "worker") + (workers.size() == 1 ? " finishes" : " finish");
  }

  private static List<String> names(FleetNode node) {
    return List.copyOf(node.workers.keySet());
  }

  private FleetEvents events() {
    return roster.events;
  }
}
