package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetNode.Contact;
import dev.flotilla.hub.fleet.FleetWorker.Exit;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.lanes.WorkLanes;
import dev.flotilla.hub.spec.FleetSpec;
import dev.flotilla.hub.store.FleetMemory;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.lanes.ControlMessage;
import dev.flotilla.wire.text.Names;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * The fleet's nodes and workers, and what follows when something about them changes. Guarded by the
 * fleet's lock; whoever changes something calls {@link #settle} before the lock is released.
 *
 * <p>{@link #settle} is the only place where consequences are drawn, always in the same order:
 * derive each worker's state anew and tell what changed, ask {@link Placement} for a plan and carry
 * it out, let go of workers that have ended, tell nodes what is wanted of them, remember. It does
 * nothing where nothing changed, so it may be called at any time.
 *
 * <p><b>Invariants</b> ({@link #checkInvariants}): a worker is listed under its own node and name;
 * its state is what {@link FleetWorker#derive} says; a dismissed worker is leaving; a node that is
 * not connected has no link; only a node out of contact is gone; nothing is told to a node before
 * its welcome.
 */
final class Roster {
  final Map<String, FleetNode> nodes = new TreeMap<>();
  final Progress progress;
  final FleetEvents events;

  private final WorkLanes lanes;
  private final FleetMemory memory;
  private final FleetLimits limits;
  private final Map<Placement.Barred, Long> barredUntil = new HashMap<>();
  private final Set<Placement.Barred> declined = new HashSet<>();
  private final List<Consumer<WorkerView>> historians = new ArrayList<>();
  private Optional<FleetSpec> spec = Optional.empty();
  private long revision;
  private long orders;

  /** Whether the configuration was just put in force, and its consequences are being drawn. */
  private boolean applying;

  /** Whether something that is seen from outside changed since this was last set to false. */
  boolean changed;

  Roster(WorkLanes lanes, FleetMemory memory, FleetEvents events, FleetLimits limits) {
    this.lanes = lanes;
    this.memory = memory;
    this.events = events;
    this.limits = limits;
    this.progress = new Progress(limits.progressMax());
  }

  /** Puts back what was remembered: nodes that are awaited, with their workers. */
  void recall(FleetNode node, FleetMemory.RememberedNode remembered, long now) {
    node.generation = remembered.generation();
    node.agentVersion = remembered.agentVersion();
    node.drainedBy = remembered.drainedBy();
    node.facts = remembered.facts().orElse(null);
    node.rememberedFacts = node.facts;
    node.contactReason = "node " + node.name + " has not been heard since the hub's start";
    node.awaySince = now;
    node.saved = remembered;
    for (FleetMemory.RememberedWorker kept : remembered.workers()) {
      FleetWorker worker =
          new FleetWorker(kept.spec(), node, orders++, kept.generation(), State.LOST);
      worker.drainedBy = kept.drainedBy();
      worker.hasServed = kept.generation() > 0;
      worker.wasLost = worker.hasServed;
      worker.reason = worker.explain();
      node.workers.put(worker.id(), worker);
    }
    nodes.put(node.name, node);
    changed = true;
  }

  void addHistorian(Consumer<WorkerView> historian) {
    historians.add(historian);
  }

  void apply(FleetSpec next, long nextRevision) {
    spec = Optional.of(next);
    revision = nextRevision;
    barredUntil.clear();
    declined.clear();
    applying = true;
    changed = true;
  }

  Optional<FleetWorker> worker(String name) {
    int slash = name.indexOf('/');
    FleetNode node = slash < 0 ? null : nodes.get(name.substring(0, slash));
    return node == null ? Optional.empty() : Optional.ofNullable(node.workers.get(name));
  }

  List<FleetWorker> workers() {
    return nodes.values().stream().flatMap(node -> node.workers.values().stream()).toList();
  }

  /** Takes in what an agent says of all its workers: what it does not name, it does not have. */
  void hearAll(FleetNode node, List<WorkerReport> reports) {
    Set<String> named = new HashSet<>();
    for (WorkerReport report : reports) {
      named.add(report.id());
      hear(node, report);
    }
    for (FleetWorker worker : node.workers.values()) {
      if (!named.contains(worker.id())) {
        worker.report = null;
      }
    }
  }

  /** Takes in what an agent says of one worker; an earlier launch's words are ignored. */
  void hear(FleetNode node, WorkerReport report) {
    FleetWorker worker = node.workers.get(report.id());
    if (worker == null) {
      return;
    }
    WorkerReport before = worker.report;
    if (!worker.hear(report)) {
      return;
    }
    if (before == null || isNews(before, report)) {
      changed = true;
    }
    if (before != null
        && report.generation() > before.generation()
        && worker.exit == Exit.RESTARTS) {
      worker.exit = Exit.STAYS; // It was started anew before it was told to.
    }
    if (report.phase() == Phase.WAITING
        && (before == null
            || before.phase() != Phase.WAITING
            || before.generation() != report.generation())) {
      if (before != null && before.generation() == report.generation() && wasReady(before)) {
        events.died(worker);
      } else {
        events.notReady(worker);
      }
    }
  }

  /**
   * Orders that a broken connection may have swallowed are given again: a launch that should have
   * ended by now reports to be ready.
   */
  void repeatOrders(FleetNode node) {
    for (FleetWorker worker : node.workers.values()) {
      if (worker.awaitsLaunch() && worker.report != null && worker.report.phase() == Phase.READY) {
        worker.orderAgain();
      }
    }
  }

  private static boolean wasReady(WorkerReport report) {
    return report.phase() == Phase.READY
        || (report.phase() == Phase.STOPPING && report.contextTokens() > 0);
  }

  /** Whether more differs than what is measured anew all the time. */
  private static boolean isNews(WorkerReport before, WorkerReport now) {
    return before.generation() != now.generation()
        || before.phase() != now.phase()
        || !before.reason().equals(now.reason())
        || before.port() != now.port()
        || before.slots() != now.slots()
        || before.contextTokens() != now.contextTokens()
        || !before.commandLine().equals(now.commandLine());
  }

  /** A node's agent dialled: its owner may have changed what it takes. */
  void joined(FleetNode node) {
    declined.removeIf(refused -> refused.node().equals(node.name));
  }

  /** Draws all consequences of what changed. */
  void settle(long now) {
    nodes.values().forEach(this::adoptStrangers);
    workers().forEach(worker -> refresh(worker, now));
    spec.ifPresent(wanted -> place(wanted, now));
    for (FleetNode node : nodes.values()) {
      dropEnded(node);
      if (spec.isPresent()) {
        tell(node);
      }
      FleetMemory.RememberedNode kept = node.remembered();
      if (!kept.equals(node.saved)) {
        node.saved = kept;
        memory.save(kept);
      }
    }
  }

  /** Nothing runs in it any more: its agent may stop it. */
  void dismiss(FleetWorker worker, long now) {
    worker.dismissed = true;
    changed = true;
    refresh(worker, now);
  }

  /** Its node may be given its model again. */
  void unbar(FleetWorker worker) {
    barredUntil.remove(new Placement.Barred(worker.spec.model(), worker.node.name));
  }

  /** Nothing runs in it any more: it is proved once more. */
  void reprove(FleetWorker worker, long now) {
    worker.exit = Exit.STAYS;
    worker.exitWhy = "";
    worker.unhurried = false;
    worker.drainTold = false;
    worker.proof = worker.provesThen;
    changed = true;
    refresh(worker, now);
  }

  /** Its agent is told to start it again. */
  void relaunch(FleetWorker worker, long now) {
    events.restarting(worker, worker.exitWhy);
    worker.exit = Exit.STAYS;
    worker.exitWhy = "";
    worker.drainTold = false;
    if (worker.report != null && worker.report.phase() == Phase.READY) {
      worker.awaitLaunch();
    }
    unbar(worker);
    worker.node.tell(new ControlMessage.RestartWorker(worker.id()));
    changed = true;
    refresh(worker, now);
  }

  /** Derives a worker's state anew; tells and passes on what changed. */
  private void refresh(FleetWorker worker, long now) {
    State from = worker.state;
    State to = worker.derive();
    long generation = worker.generation();
    boolean sameLaunch = generation == worker.shownGeneration;
    worker.state = to;
    String reason = worker.explain();
    boolean explained = !reason.equals(worker.reason);
    worker.reason = reason;
    if (from == to && sameLaunch) {
      changed |= explained;
      return;
    }
    worker.shownGeneration = generation;
    changed = true;
    events.changed(worker, from, to, sameLaunch);
    if (to == State.DRAINING && from != State.DRAINING && from != State.SUSPECT) {
      worker.drainSince = now;
      worker.drainTold = false;
    }
    if (to == State.SERVING) {
      worker.hasServed = true;
      worker.wasLost = false;
    }
    if (to == State.LOST) {
      worker.wasLost = worker.hasServed;
      worker.proof = Proof.FIRST; // Nobody knows what became of it meanwhile.
    }
    if (to == State.REFUSED && !worker.hasServed) {
      Placement.Barred refused = new Placement.Barred(worker.spec.model(), worker.node.name);
      barredUntil.put(refused, now + limits.refusedPause().toNanos());
      declined.add(refused);
    }
    if (to == State.SERVING || to == State.DRAINING || to == State.PROVING) {
      lanes.pool(worker.node.name).serves(worker.id(), generation);
    } else if (to != State.SUSPECT) {
      lanes.pool(worker.node.name).stopped(worker.id());
    }
    WorkerView view = worker.view();
    historians.forEach(historian -> historian.accept(view));
  }

  private void place(FleetSpec wanted, long now) {
    barredUntil.values().removeIf(until -> now - until >= 0);
    List<Placement.Site> sites =
        nodes.values().stream()
            .map(node ->
                new Placement.Site(
                    node.name,
                    Optional.ofNullable(node.facts),
                    node.presence(),
                    !node.keptBy().isEmpty()))
            .toList();
    Placement.Plan plan =
        Placement.plan(
            wanted,
            sites,
            workers().stream().map(FleetWorker::held).toList(),
            Set.copyOf(barredUntil.keySet()),
            Set.copyOf(declined));
    for (Placement.Departure departure : plan.departures()) {
      boolean unhurried = departure.reason() == Placement.Reason.SURPLUS && !applying;
      worker(departure.worker())
          .ifPresent(worker -> leave(worker, departure.why(), unhurried, now));
    }
    applying = false;
    for (Placement.Addition addition : plan.additions()) {
      FleetNode node = nodes.get(addition.node());
      if (node != null) {
        FleetWorker worker = new FleetWorker(addition.spec(), node, orders++, 0, State.STARTING);
        node.workers.put(worker.id(), worker);
        refresh(worker, now);
        events.placed(worker);
        changed = true;
      }
    }
  }

  private void leave(FleetWorker worker, String why, boolean unhurried, long now) {
    boolean runs = worker.isReady() && worker.isProved() && worker.node.isConnected();
    worker.exit = Exit.STOPS;
    worker.exitWhy = why;
    worker.unhurried = unhurried;
    changed = true;
    if (runs) {
      events.leaves(worker);
      worker.drainSince = now;
      worker.drainTold = false;
    } else {
      worker.dismissed = true; // Nothing runs there that could be finished.
    }
    refresh(worker, now);
  }

  /** Forgets workers that were to stop and that their agent does not run any more. */
  private void dropEnded(FleetNode node) {
    List<FleetWorker> ended =
        node.workers.values().stream()
            .filter(worker -> worker.dismissed)
            .filter(worker ->
                !node.isConnected()
                    || worker.report == null
                    || worker.report.phase() == Phase.STOPPED)
            .toList();
    for (FleetWorker worker : ended) {
      drop(worker);
      events.stopped(worker);
    }
    if (!ended.isEmpty()) {
      // Memory became free: what was refused for want of it need not wait for its long pause.
      node.workers.values().stream()
          .filter(
              worker -> worker.state == State.REFUSED && !worker.fellShort() && !worker.dismissed)
          .forEach(worker -> node.tell(new ControlMessage.RestartWorker(worker.id())));
    }
  }

  /** Takes a worker off the list. */
  void drop(FleetWorker worker) {
    worker.node.workers.remove(worker.id());
    lanes.pool(worker.node.name).stopped(worker.id());
    changed = true;
  }

  /**
   * Takes in workers that a reconnecting agent runs and that this hub did not place, where they are
   * what the configuration would place there: a hub that lost its state stops nothing.
   */
  private void adoptStrangers(FleetNode node) {
    if (spec.isEmpty() || node.strangers.isEmpty()) {
      return;
    }
    List<WorkerReport> strangers = node.strangers;
    node.strangers = List.of();
    for (WorkerReport report : strangers) {
      boolean alive =
          switch (report.phase()) {
            case PREPARING, STARTING, READY, WAITING -> true;
            case STOPPING, STOPPED, REFUSED -> false;
          };
      if (alive
          && !node.workers.containsKey(report.id())
          && Names.workerProblem(report.id()).isEmpty()
          && report.id().startsWith(node.name + "/" + report.model() + "-")) {
        adopt(node, report);
      }
    }
  }

  private void adopt(FleetNode node, WorkerReport report) {
    NodeFacts facts = node.facts;
    if (facts == null) {
      return;
    }
    spec.stream()
        .flatMap(wanted -> wanted.models().stream())
        .filter(model -> model.name().equals(report.model()))
        .findFirst()
        .flatMap(model ->
            Recipes.recipeFor(model, node.name, facts)
                .map(recipe -> Recipes.workerSpec(report.id(), model, recipe)))
        .ifPresent(found -> {
          FleetWorker worker = new FleetWorker(found, node, orders++, 0, State.STARTING);
          node.workers.put(worker.id(), worker);
          worker.hear(report);
          events.adopted(worker);
        });
  }

  private void tell(FleetNode node) {
    ControlMessage.Desired desired = node.desired(revision);
    if (node.link != null && node.welcomed && !desired.equals(node.told)) {
      node.told = desired;
      node.tell(desired);
    }
  }

  /** A node that is not connected is no part of the fleet any more, nor are its workers. */
  void remove(FleetNode node) {
    node.workers.keySet().forEach(worker -> lanes.pool(node.name).stopped(worker));
    progress.forget(node.name);
    nodes.remove(node.name);
    changed = true;
  }

  void checkInvariants() {
    for (FleetNode node : nodes.values()) {
      check(
          node.isConnected() == (node.link != null),
          node.name + " is " + node.contact + ", link " + (node.link != null));
      check(!node.gone || !node.isConnected(), node.name + " is connected and gone");
      check(node.told == null || node.welcomed, node.name + " was told before its welcome");
      for (Map.Entry<String, FleetWorker> entry : node.workers.entrySet()) {
        FleetWorker worker = entry.getValue();
        check(entry.getKey().equals(worker.id()), worker + " is listed as " + entry.getKey());
        check(worker.node.equals(node), worker + " is listed under node " + node.name);
        check(worker.state == worker.derive(), worker + " should be " + worker.derive());
        check(!worker.dismissed || worker.isLeaving(), worker + " is dismissed and stays");
      }
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new AssertionError(otherwise);
    }
  }

  /** The node has no control lane any more. */
  void disconnect(FleetNode node, Contact how, String why, long now) {
    node.lose(how, why, now);
    node.link = null;
    node.welcomed = false;
    node.told = null;
    progress.forget(node.name);
    changed = true;
  }
}
