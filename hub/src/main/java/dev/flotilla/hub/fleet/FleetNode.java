package dev.flotilla.hub.fleet;

import dev.flotilla.hub.lanes.AgentLink;
import dev.flotilla.hub.lanes.RateLimit;
import dev.flotilla.hub.store.FleetMemory;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerReport;
import dev.flotilla.wire.lanes.ControlMessage;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What the fleet knows of one node. Guarded by the fleet's lock. */
final class FleetNode {

  /** How the node is reached. */
  enum Contact {
    /** Its control lane speaks as it should. */
    HEARD,
    /** Its control lane is there and has been silent for longer than it should. */
    SILENT,
    /** Its control lane broke a moment ago; its work lanes may live. */
    TORN,
    /** Out of contact for three heartbeats. */
    LOST,
    /** Its agent said goodbye: its workers ended with it. */
    ENDED,
    /** Known from before the hub's start, not heard since. */
    AWAITED
  }

  final String name;
  final String agentId;
  final RateLimit eventRate;
  final Map<String, FleetWorker> workers = new TreeMap<>();

  Contact contact = Contact.AWAITED;
  long generation;
  String agentVersion = "";
  String drainedBy = "";

  /** Why contact was lost, the end of a sentence; empty while it is there. */
  String contactReason = "";

  @Nullable NodeFacts facts;

  /** Facts of the last hello, which are remembered: those of heartbeats change all the time. */
  @Nullable NodeFacts rememberedFacts;

  @Nullable Instant heardAt;
  long heardNanos;

  /** Since when the contact is neither HEARD nor SILENT. */
  long awaySince;

  /** Whether the grace is over and its workers count for nothing. */
  boolean gone;

  @Nullable AgentLink link;

  /** Whether the link was sent its welcome, so that it may be told more. */
  boolean welcomed;

  /** Workers that a hello named and that were not placed by this hub; looked at once. */
  List<WorkerReport> strangers = List.of();

  /** What went through its work lanes since its agent started. */
  List<ControlMessage.LaneCount> laneCounts = List.of();

  /** Workers that are still to be restarted, in turn; who ordered it; whose turn it is. */
  final Deque<String> restarts = new ArrayDeque<>();

  /** The version that it was offered last. */
  @Nullable NodeUpdate update;

  String restartsBy = "";
  String restarting = "";

  /** How soon its workers are placed elsewhere, in steps; 0 while it is there, or gone. */
  int replacedInSeconds;

  ControlMessage.@Nullable Desired told;
  FleetMemory.@Nullable RememberedNode saved;

  FleetNode(String name, String agentId, RateLimit eventRate) {
    this.name = name;
    this.agentId = agentId;
    this.eventRate = eventRate;
  }

  boolean isConnected() {
    return contact == Contact.HEARD || contact == Contact.SILENT;
  }

  /** Who or what keeps its workers from taking anything new; empty where nothing does. */
  String keptBy() {
    if (!drainedBy.isEmpty()) {
      return drainedBy;
    }
    NodeUpdate next = update;
    return next != null && next.takesNothingNew() ? "the update to " + next.version() : "";
  }

  Placement.Presence presence() {
    if (contact == Contact.HEARD) {
      return Placement.Presence.CONNECTED;
    }
    return gone ? Placement.Presence.GONE : Placement.Presence.AWAY;
  }

  void lose(Contact how, String why, long now) {
    if (isConnected()) {
      awaySince = now;
    }
    contact = how;
    contactReason = why;
  }

  void tell(ControlMessage.FromHub message) {
    AgentLink to = link;
    if (to != null && welcomed) {
      to.send(message);
    }
  }

  /** Everything that the node is to run. */
  ControlMessage.Desired desired(long revision) {
    return new ControlMessage.Desired(
        revision, workers.values().stream().filter(w -> !w.dismissed).map(w -> w.spec).toList());
  }

  FleetMemory.RememberedNode remembered() {
    return new FleetMemory.RememberedNode(
        name,
        agentId,
        generation,
        agentVersion,
        Optional.ofNullable(rememberedFacts),
        drainedBy,
        gone
            ? List.of()
            : workers.values().stream()
                .filter(w -> !w.isLeaving())
                .map(w -> new FleetMemory.RememberedWorker(w.spec, w.generation(), w.drainedBy))
                .toList());
  }

  String host() {
    return facts == null ? "" : facts.host();
  }

  /** Whether both agents run on one machine, as far as its name tells. */
  boolean sharesMachineWith(FleetNode other) {
    return name.equals(other.name) || (!host().isEmpty() && host().equals(other.host()));
  }

  String gpu() {
    return facts == null || facts.accelerators().isEmpty()
        ? ""
        : String.join(
            ", ",
            facts.accelerators().stream().map(NodeFacts.Accelerator::name).distinct().toList());
  }
}
