package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.WorkerView.State;
import dev.flotilla.hub.routing.Dialer;
import dev.flotilla.wire.WorkerReport;
import dev.flotilla.wire.WorkerReport.Phase;
import dev.flotilla.wire.WorkerSpec;
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
    RESTARTS
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

  /** Who drained it or its node by hand, empty where nobody did. */
  String commandedBy() {
    return drainedBy.isEmpty() ? node.drainedBy : drainedBy;
  }

  /** Takes a report in; false where it is of an earlier launch and is not believed. */
  boolean hear(WorkerReport said) {
    if (said.generation() < knownGeneration) {
      return false;
    }
    if (said.generation() > knownGeneration) {
      dialer = null;
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

  /** Whether it will take requests without anybody's doing: it starts, or is waited for. */
  boolean isComing() {
    if (node.gone || isLeaving() || !commandedBy().isEmpty()) {
      return false;
    }
    return state == State.STARTING
        || state == State.SUSPECT
        || state == State.LOST
        || exit == Exit.RESTARTS
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
      case REFUSED -> reported("it can't be started");
      case SUSPECT, LOST -> node.contactReason;
      case DRAINING ->
          exit == Exit.STAYS ? "drained by " + commandedBy() : "it takes nothing new: " + exitWhy;
      case STOPPED ->
          node.contact == FleetNode.Contact.ENDED
              ? node.contactReason
              : dismissed ? "it is being stopped: " + exitWhy : reported("its agent stopped it");
    };
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
    if (state == State.REFUSED) {
      standing = Placement.Standing.REFUSED;
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
        said == null || said.slots() == 0 ? spec.slots() : said.slots(),
        state,
        reason,
        knownGeneration,
        said == null ? 0 : said.pid(),
        said == null ? 0 : said.port(),
        said == null ? 0 : said.residentBytes(),
        said == null ? 0 : said.launches(),
        said == null ? null : said.startedAt(),
        said == null ? List.of() : said.commandLine(),
        commandedBy());
  }

  /** Without the report: a report holds the launch's key. */
  @Override
  public String toString() {
    return "FleetWorker[" + id() + " generation " + knownGeneration + " " + state + "]";
  }
}
