package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.fleet.WorkerReport.Phase;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the fleet knows of one placed worker. Guarded by the fleet's lock.
 *
 * <p>Its state is not set but {@linkplain #derive derived}, from the last report of its agent, the
 * contact with its node, and what is wanted of it; so no sequence of messages can leave it in a
 * state that nothing explains.
 */
final class FleetWorker {
  private static final int REASON_CHARS_MAX = 500;

  /** What happens after it has finished what runs. */
  enum Exit {
    STAYS,
    STOPS,
    RESTARTS,
    PROVES
  }

  final WorkerSpec spec;
  final FleetNode node;

  /** Grows with each placement: the youngest has the highest. */
  final long order;

  State state;
  String reason = "";
  String drainedBy = "";
  Exit exit = Exit.STAYS;
  String exitWhy = "";

  /** Since when it takes nothing new, where it is draining. */
  long drainSince;

  /** Whether it leaves only when nothing runs in it, however long that takes. */
  boolean unhurried;

  /** Whether a drain by hand was said to be over. */
  boolean drainTold;

  /** Whether the agent was told to stop it: it is not desired any more. */
  boolean dismissed;

  @Nullable WorkerReport report;
  @Nullable Dialer dialer;

  /** Where the proof of the launch of now stands. */
  Proof proof = Proof.FIRST;

  /** What is wanted once it has drained, where its exit is PROVES. */
  Proof.Wanted provesThen = Proof.FIRST;

  /** Proofs in a row that the worker did not pass. */
  int refusals;

  /** Whether the launch of now was ever given requests. */
  boolean hasServed;

  /** Whether it was lost since it served last, with the same launch. */
  boolean wasLost;

  /** The launch that the worker's state was last told of. */
  long shownGeneration;

  private long floor;
  private long knownGeneration;

  FleetWorker(WorkerSpec spec, FleetNode node, long order, long knownGeneration, State state) {
    this.spec = spec;
    this.node = node;
    this.order = order;
    this.knownGeneration = knownGeneration;
    this.shownGeneration = knownGeneration;
    this.state = state;
  }

  String id() {
    return spec.id();
  }

  /** The highest launch heard of. */
  long generation() {
    return knownGeneration;
  }

  /** As the ledger counts it. */
  String ledgerKey() {
    return id() + '#' + knownGeneration;
  }

  boolean isLeaving() {
    return exit == Exit.STOPS;
  }

  /** Who drained it or its node, by hand or for an update; empty where nobody did. */
  String commandedBy() {
    return drainedBy.isEmpty() ? node.keptBy() : drainedBy;
  }

  /** Takes a report in; false where it is of an earlier launch and is not believed. */
  boolean hear(WorkerReport said) {
    if (said.generation() < knownGeneration) {
      return false;
    }
    if (said.generation() > knownGeneration) {
      dialer = null;
      proof = Proof.FIRST;
      hasServed = false;
      wasLost = false;
      if (exit == Exit.PROVES) {
        exit = Exit.STAYS;
      }
    }
    knownGeneration = said.generation();
    report = said;
    return true;
  }

  /** The launch of now is about to end: only a later one can serve. */
  void awaitLaunch() {
    floor = knownGeneration + 1;
  }

  /** The order to start again is to be given once more. */
  void orderAgain() {
    floor = 0;
    exit = Exit.RESTARTS;
    exitWhy = "it was ordered before its connection broke";
  }

  /** Whether it was told to start again, and the launch of then still reports. */
  boolean awaitsLaunch() {
    return knownGeneration < floor;
  }

  /** Whether its launch died and another follows after a pause. */
  boolean isPausing() {
    return report != null && report.phase() == Phase.WAITING;
  }

  boolean isReady() {
    return report != null && report.phase() == Phase.READY && !awaitsLaunch();
  }

  boolean isProved() {
    return proof instanceof Proof.Passed;
  }

  /** Requests that it is given at once. */
  int slots(int reported) {
    return proof instanceof Proof.Passed passed && passed.slots() > 0
        ? Math.min(passed.slots(), reported)
        : reported;
  }

  /** Whether it will take requests without anybody's doing: it starts, or is waited for. */
  boolean isComing() {
    boolean byHand = !drainedBy.isEmpty() || !node.drainedBy.isEmpty();
    if (node.gone || isLeaving() || byHand) {
      return false;
    }
    return !commandedBy().isEmpty()
        || state == State.STARTING
        || state == State.PROVING
        || state == State.SUSPECT
        || state == State.LOST
        || exit == Exit.RESTARTS
        || exit == Exit.PROVES
        || node.contact == FleetNode.Contact.ENDED;
  }

  State derive() {
    return switch (node.contact) {
      case LOST, AWAITED -> State.LOST;
      case ENDED -> State.STOPPED;
      case HEARD, SILENT, TORN -> {
        if (dismissed) {
          yield State.STOPPED;
        }
        if (report != null && report.phase() == Phase.REFUSED) {
          yield State.REFUSED;
        }
        if (report != null && report.phase() == Phase.STOPPED && !awaitsLaunch()) {
          yield State.STOPPED;
        }
        if (!isReady()) {
          yield State.STARTING;
        }
        if (!isProved()) {
          yield proof instanceof Proof.Refused ? State.REFUSED : State.PROVING;
        }
        if (node.contact != FleetNode.Contact.HEARD) {
          yield State.SUSPECT;
        }
        yield exit == Exit.STAYS && commandedBy().isEmpty() ? State.SERVING : State.DRAINING;
      }
    };
  }

  /** One sentence where the state of now needs one. */
  String explain() {
    return switch (state) {
      case SERVING -> "";
      case STARTING -> startingReason();
      case PROVING ->
          proof instanceof Proof.Running running ? running.step() : "it waits to be proved";
      case REFUSED -> refusedReason();
      case SUSPECT, LOST -> node.contactReason;
      case DRAINING ->
          exit == Exit.STAYS ? "drained by " + commandedBy() : "it takes nothing new: " + exitWhy;
      case STOPPED ->
          node.contact == FleetNode.Contact.ENDED
              ? node.contactReason
              : dismissed ? "it is being stopped: " + exitWhy : reported("its agent stopped it");
    };
  }

  /** Whether it runs, and its proof is what keeps it from serving. */
  boolean fellShort() {
    return proof instanceof Proof.Refused && isReady();
  }

  private String refusedReason() {
    return proof instanceof Proof.Refused refused && isReady()
        ? refused.reason()
        : reported("it can't be started");
  }

  /** What it waits for while it does not serve yet. */
  String startingReason() {
    if (report == null) {
      return "its agent has not begun yet";
    }
    if (awaitsLaunch()) {
      return "it is being started again";
    }
    return switch (report.phase()) {
      case PREPARING -> reported("what it needs is being fetched");
      case STARTING -> reported("the engine loads the model");
      case WAITING -> reported("it is started again after a pause");
      default -> reported("it is being started");
    };
  }

  private String reported(String otherwise) {
    String said = report == null ? "" : report.reason();
    return said.isEmpty()
        ? otherwise
        : said.length() <= REASON_CHARS_MAX ? said : said.substring(0, REASON_CHARS_MAX) + "…";
  }

  Placement.Held held() {
    Placement.Standing standing;
    boolean here =
        node.contact != FleetNode.Contact.LOST && node.contact != FleetNode.Contact.AWAITED;
    boolean provesAgain = isReady() && !isProved() && hasServed;
    if (here && provesAgain) {
      // It stays where it is: what ails it may pass, and most that come back are as they were.
      standing = wasLost && !fellShort() ? Placement.Standing.SERVING : Placement.Standing.DRAINED;
    } else if (state == State.REFUSED) {
      boolean forMemory =
          report != null && report.phase() == Phase.REFUSED && report.shortOfMemory();
      standing = forMemory ? Placement.Standing.NO_ROOM : Placement.Standing.REFUSED;
    } else if (state == State.PROVING) {
      standing = Placement.Standing.STARTING;
    } else if (!isReady() && !(report == null && node.contact == FleetNode.Contact.AWAITED)) {
      standing = Placement.Standing.STARTING;
    } else {
      standing = commandedBy().isEmpty() ? Placement.Standing.SERVING : Placement.Standing.DRAINED;
    }
    return new Placement.Held(
        spec, node.name, standing, isLeaving(), report == null ? 0 : report.residentBytes(), order);
  }

  WorkerView view() {
    WorkerReport said = report;
    return new WorkerView(
        id(),
        node.name,
        node.host(),
        node.gpu(),
        spec.model(),
        spec.engine(),
        said == null ? "" : said.engineBuild(),
        said == null || said.contextTokens() == 0 ? spec.contextTokens() : said.contextTokens(),
        slots(said == null || said.slots() == 0 ? spec.slots() : said.slots()),
        state,
        reason,
        knownGeneration,
        said == null ? 0 : said.pid(),
        said == null ? 0 : said.port(),
        said == null ? 0 : said.residentBytes(),
        said == null ? 0 : said.launches(),
        said == null ? null : said.startedAt(),
        said == null ? List.of() : said.commandLine(),
        commandedBy(),
        proof instanceof Proof.Passed passed ? passed.note() : "");
  }

  /** Without the report: a report holds the launch's key. */
  @Override
  public String toString() {
    return "FleetWorker[" + id() + " generation " + knownGeneration + " " + state + "]";
  }
}
