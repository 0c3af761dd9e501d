package dev.flotilla.hub.proof;

import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.gateway.TargetWatch;
import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.store.Journal;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/**
 * Looks at what serving workers do for clients, and has them proved again where it is not what they
 * showed: answers slower than the model's floor for a while, or replies of a wrong shape.
 *
 * <p><b>Load is not illness.</b> An answer's speed is taken as it would have been alone and behind
 * a short prompt, by the worker's own curve. As requests beside it count all that were in flight on
 * its machine, when it began or when it ended, whichever were more: so an answer is rather taken
 * for one of a busy machine. Without a curve nothing is said of speed.
 *
 * <p>The last worker of a model is not drained for slowness: people are told, once, until it is
 * well again.
 *
 * <p>Bound: {@link #WORKERS_MAX} launches; beyond that the table begins anew. Concurrency: one
 * short lock; the fleet is called outside it.
 */
public final class LiveWatch implements TargetWatch {
  private static final int WORKERS_MAX = 1_024;

  /** Shorter answers measure latency, not speed. */
  private static final int TOKENS_MIN = 8;

  private final Fleet fleet;
  private final Prover prover;
  private final ToIntFunction<String> inFlightOnMachine;
  private final Journal journal;
  private final ProofLimits limits;
  private final LongSupplier nanoClock;
  private final Map<String, State> states = new HashMap<>();

  private static final class State {
    final SpeedHealth speed;
    final Deque<Long> faults = new ArrayDeque<>();
    boolean told;

    State(ProofLimits limits) {
      speed = new SpeedHealth(limits.slowWindow(), limits.slowSamples());
    }
  }

  /**
   * @param inFlightOnMachine requests in flight on all workers of a node's machine
   */
  public LiveWatch(
      Fleet fleet,
      Prover prover,
      ToIntFunction<String> inFlightOnMachine,
      Journal journal,
      ProofLimits limits,
      LongSupplier nanoClock) {
    this.fleet = fleet;
    this.prover = prover;
    this.inFlightOnMachine = inFlightOnMachine;
    this.journal = journal;
    this.limits = limits;
    this.nanoClock = nanoClock;
  }

  @Override
  public void answered(
      Target target, int promptTokens, int completionTokens, long decodeNanos, int inFlight) {
    double floor = prover.floor(target.model());
    Optional<Curve> curve = prover.curve(target.ledgerKey());
    if (target.kind() != Target.Kind.WORKER
        || floor <= 0
        || curve.isEmpty()
        || completionTokens < TOKENS_MIN
        || decodeNanos <= 0) {
      return;
    }
    int beside = Math.max(inFlight, inFlightOnMachine.applyAsInt(target.node()) + 1);
    double share = curve.get().shareAt(beside) * curve.get().shareBehind(promptTokens);
    if (share <= 0) {
      return; // Under such a load any speed is to be expected.
    }
    double alone = completionTokens * 1e9 / decodeNanos / share;
    String sick = judged(target, alone, floor);
    if (sick.isEmpty()) {
      return;
    }
    boolean drains = fleet.proveAgain(target.name(), target.generation(), sick, true);
    tell(target, sick, drains);
  }

  private synchronized String judged(Target target, double alone, double floor) {
    State state = state(target);
    boolean sick = state.speed.isSick(alone, floor, nanoClock.getAsLong());
    if (state.speed.isWell()) {
      state.told = false;
    }
    return sick
        ? String.format(
            Locale.ROOT,
            "answers at %.1f tok/s of the %.1f that its model promises, load allowed for",
            state.speed.mean(),
            floor)
        : "";
  }

  private void tell(Target target, String sick, boolean drains) {
    synchronized (this) {
      State state = state(target);
      if (drains) {
        states.remove(target.ledgerKey());
        return;
      }
      if (state.told) {
        return;
      }
      state.told = true;
    }
    journal.event(
        Severity.WARNING,
        "worker-slow",
        target.name(),
        "%s %s. It goes on serving, for no other worker serves %s."
            .formatted(target.name(), sick, target.model()));
  }

  @Override
  public void misbehaved(Target target, String reason) {
    if (target.kind() != Target.Kind.WORKER) {
      return;
    }
    synchronized (this) {
      Deque<Long> faults = state(target).faults;
      long now = nanoClock.getAsLong();
      faults.addLast(now);
      while (now - faults.getFirst() > limits.faultWindow().toNanos()) {
        faults.removeFirst();
      }
      if (faults.size() < limits.faultsMax()) {
        return;
      }
      states.remove(target.ledgerKey());
    }
    fleet.proveAgain(
        target.name(),
        target.generation(),
        "answers in a shape that it did not have when it was proved (it %s)".formatted(reason),
        false);
  }

  private State state(Target target) {
    if (states.size() >= WORKERS_MAX && !states.containsKey(target.ledgerKey())) {
      states.clear();
    }
    return states.computeIfAbsent(target.ledgerKey(), _ -> new State(limits));
  }
}
