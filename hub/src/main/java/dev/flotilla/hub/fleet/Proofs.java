package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetWorker.Exit;
import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.wire.fleet.NodeFacts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Which workers are to be proved, and what follows from a proof. Guarded by the fleet's lock.
 *
 * <p>A launch that its agent reports to be ready is {@link Proof.Wanted}; whoever proves takes it
 * from {@link #candidates}, and until a verdict comes the worker is in nobody's reach. A refused
 * launch is wanted again after a pause that doubles, by hand, and, where it was only too slow, as
 * soon as its machine has clearly less to do. What is said of a launch that is over is not heard.
 */
final class Proofs {
  /** A load that fell by less than this says nothing. */
  private static final double LOAD_FALL_MIN = 0.5;

  private static final double LOAD_FALL_SHARE = 0.25;

  /** The load is an average: so soon after a refusal it is still that of before. */
  private static final Duration LOAD_LOOK_AFTER = Duration.ofSeconds(5);

  private final Roster roster;
  private final SnapshotBuilder snapshots;
  private final FleetLimits limits;

  Proofs(Roster roster, SnapshotBuilder snapshots, FleetLimits limits) {
    this.roster = roster;
    this.snapshots = snapshots;
    this.limits = limits;
  }

  /** Launches that wait to be proved, in the order in which they were placed. */
  List<ProofCandidate> candidates() {
    return roster.workers().stream()
        .filter(worker -> worker.state == State.PROVING && worker.node.isConnected())
        .filter(worker -> worker.proof instanceof Proof.Wanted)
        .sorted((one, other) -> Long.compare(one.order, other.order))
        .flatMap(worker -> candidate(worker).stream())
        .toList();
  }

  private Optional<ProofCandidate> candidate(FleetWorker worker) {
    if (worker.report == null || !(worker.proof instanceof Proof.Wanted order)) {
      return Optional.empty();
    }
    return Optional.of(
        new ProofCandidate(
            snapshots.target(worker, worker.report).admitting(true),
            worker.spec,
            worker.report.engineBuild(),
            worker.report.modelFingerprint(),
            Optional.ofNullable(worker.node.facts),
            order.fresh(),
            order.asReference(),
            order.slow()));
  }

  /** Somebody proves the launch from now on; false where it does not wait for that any more. */
  boolean begins(ProofCandidate candidate, String step) {
    Optional<FleetWorker> worker = launch(candidate.worker(), candidate.generation());
    if (worker.isEmpty() || !(worker.get().proof instanceof Proof.Wanted order)) {
      return false;
    }
    worker.get().proof = new Proof.Running(order, step);
    roster.changed = true;
    return true;
  }

  /** What is being looked at; false where the launch is over and the proof may end. */
  boolean goesOn(ProofCandidate candidate, String step) {
    Optional<FleetWorker> worker = launch(candidate.worker(), candidate.generation());
    if (worker.isEmpty() || !(worker.get().proof instanceof Proof.Running running)) {
      return false;
    }
    worker.get().proof = new Proof.Running(running.order(), step);
    roster.changed = true;
    return true;
  }

  void proved(ProofCandidate candidate, ProofVerdict verdict, long now) {
    Optional<FleetWorker> found = launch(candidate.worker(), candidate.generation());
    if (found.isEmpty()) {
      return;
    }
    FleetWorker worker = found.get();
    if (worker.proof instanceof Proof.Passed || worker.proof instanceof Proof.Refused) {
      return;
    }
    roster.changed = true;
    switch (verdict) {
      case ProofVerdict.Passed passed -> {
        worker.proof = new Proof.Passed(passed.slots(), passed.note());
        worker.refusals = 0;
        roster.unbar(worker);
      }
      case ProofVerdict.Refused refused -> {
        long doublings = Math.min(worker.refusals++, 10);
        Duration pause = limits.proofPause().multipliedBy(1L << doublings);
        worker.proof =
            new Proof.Refused(
                refused.reason(),
                refused.slow(),
                now,
                pause.compareTo(limits.proofPauseMax()) < 0 ? pause : limits.proofPauseMax(),
                load(worker));
      }
      case ProofVerdict.Broken _ -> {
        if (worker.proof instanceof Proof.Running running) {
          worker.proof = running.order();
        }
      }
    }
  }

  /** What is known of a launch that serves became more. */
  void noted(String name, long generation, int slots, String note) {
    launch(name, generation)
        .filter(worker -> worker.proof instanceof Proof.Passed)
        .ifPresent(worker -> {
          worker.proof = new Proof.Passed(slots, note);
          roster.changed = true;
        });
  }

  /** Wants those again whose pause is over, or whose machine has less to do. */
  void retry(long now) {
    for (FleetWorker worker : roster.workers()) {
      if (worker.proof instanceof Proof.Refused refused
          && worker.isReady()
          && worker.node.isConnected()
          && (now - refused.sinceNanos() >= refused.pause().toNanos()
              || loadFell(worker, refused, now))) {
        worker.proof = new Proof.Wanted(true, false, refused.slow());
        roster.changed = true;
      }
    }
  }

  private static boolean loadFell(FleetWorker worker, Proof.Refused refused, long now) {
    double load = load(worker);
    double fall = refused.load() - load;
    return refused.slow()
        && load >= 0
        && now - refused.sinceNanos() >= LOAD_LOOK_AFTER.toNanos()
        && fall >= Math.max(LOAD_FALL_MIN, LOAD_FALL_SHARE * refused.load());
  }

  private static double load(FleetWorker worker) {
    NodeFacts facts = worker.node.facts;
    return facts == null ? -1 : facts.loadAverage();
  }

  /**
   * A worker that serves is drained and proved again.
   *
   * @param why the rest of a sentence that begins with the worker's name
   * @param slow whether it is only slow: then the last one that serves its model goes on, and
   *     nothing is cut
   * @return false where it goes on serving
   */
  boolean again(String name, long generation, String why, boolean slow, long now) {
    Optional<FleetWorker> found = launch(name, generation);
    if (found.isEmpty()
        || found.get().state != State.SERVING
        || (slow && !othersServe(found.get()))) {
      return false;
    }
    drain(found.get(), why, slow, new Proof.Wanted(true, false, slow), now);
    roster.events.provedAgain(found.get(), why);
    return true;
  }

  private boolean othersServe(FleetWorker worker) {
    return roster.workers().stream()
        .filter(other -> other.spec.model().equals(worker.spec.model()) && !other.equals(worker))
        .anyMatch(other -> other.state == State.SERVING);
  }

  CommandResult prove(String name, boolean asReference, String by, long now) {
    Optional<FleetWorker> found = roster.worker(name);
    if (found.isEmpty()) {
      return roster.nodes.containsKey(name)
          ? new CommandResult.Refused(
              "%s is a node: name one of its workers, %s."
                  .formatted(name, String.join(", ", roster.nodes.get(name).workers.keySet())))
          : new CommandResult.Unknown(
              name, NearestNames.of(name, roster.workers().stream().map(FleetWorker::id).toList()));
    }
    FleetWorker worker = found.get();
    Proof.Wanted order = new Proof.Wanted(true, asReference, false);
    return switch (worker.state) {
      case SERVING -> {
        drain(worker, "it is to be proved again, as " + by + " asked", false, order, now);
        yield done(worker, " finishes what runs and is proved again.");
      }
      case PROVING -> {
        if (worker.proof instanceof Proof.Running && !asReference) {
          yield new CommandResult.Refused(name + " is being proved already.");
        }
        worker.proof = order;
        roster.changed = true;
        yield done(worker, " is proved.");
      }
      case REFUSED -> {
        if (!(worker.proof instanceof Proof.Refused) || !worker.isReady()) {
          yield new CommandResult.Refused(
              "%s can't be proved, for it does not run: %s.".formatted(name, sentence(worker)));
        }
        worker.proof = order;
        roster.changed = true;
        yield done(worker, " is proved again.");
      }
      case STARTING ->
          new CommandResult.Refused(name + " is being started; it is proved when it is ready.");
      case DRAINING, SUSPECT, LOST, STOPPED ->
          new CommandResult.Refused(
              "%s can't be proved now, for it is %s: %s."
                  .formatted(
                      name,
                      worker.state.name().toLowerCase(java.util.Locale.ROOT),
                      sentence(worker)));
    };
  }

  private static String sentence(FleetWorker worker) {
    String reason = worker.explain();
    return reason.endsWith(".") ? reason.substring(0, reason.length() - 1) : reason;
  }

  private static CommandResult done(FleetWorker worker, String what) {
    return new CommandResult.Done(worker.id() + what, List.of(worker.id()));
  }

  private void drain(
      FleetWorker worker, String why, boolean unhurried, Proof.Wanted then, long now) {
    worker.exit = Exit.PROVES;
    worker.exitWhy = why;
    worker.unhurried = unhurried;
    worker.provesThen = then;
    worker.drainSince = now;
    worker.drainTold = false;
    roster.changed = true;
  }

  private Optional<FleetWorker> launch(String name, long generation) {
    return roster.worker(name).filter(worker -> worker.generation() == generation);
  }
}
