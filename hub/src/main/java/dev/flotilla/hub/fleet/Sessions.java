package dev.flotilla.hub.fleet;

import dev.flotilla.hub.fleet.FleetNode.Contact;
import dev.flotilla.hub.lanes.AgentLink;
import dev.flotilla.hub.lanes.RateLimit;
import dev.flotilla.wire.lanes.ControlMessage;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * What agents say, and which of them are believed. Guarded by the fleet's lock.
 *
 * <p>A control lane is taken in when its agent is the one that the name was given to and its
 * generation is no lower than the highest taken in before; it then replaces the lane before it.
 * What a replaced lane says, or its end, is nobody's word.
 */
final class Sessions {
  private static final Duration EVENT_WINDOW = Duration.ofMinutes(1);

  private final Roster roster;
  private final Rollout rollout;
  private final FleetEvents events;
  private final FleetLimits limits;
  private final InstantSource clock;
  private final LongSupplier nanoTime;

  Sessions(
      Roster roster,
      Rollout rollout,
      FleetLimits limits,
      InstantSource clock,
      LongSupplier nanoTime) {
    this.roster = roster;
    this.rollout = rollout;
    this.events = roster.events;
    this.limits = limits;
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  FleetNode newNode(String name, String agentId) {
    return new FleetNode(
        name, agentId, new RateLimit(limits.eventsPerMinute(), EVENT_WINDOW, nanoTime));
  }

  /** Takes a lane in; why not, where it is not. */
  Optional<ControlMessage.Refusal> hello(
      AgentLink link, String enrolledAgentId, ControlMessage.Hello hello) {
    Optional<ControlMessage.Refusal> refusal = refusal(enrolledAgentId, hello);
    if (refusal.isPresent()) {
      events.nodeRefused(hello.node(), refusal.get().code(), refusal.get().reason());
    } else {
      takeIn(link, hello);
    }
    return refusal;
  }

  /** The lane was sent its welcome: from now on it is told what is wanted. */
  void welcomed(AgentLink link) {
    nodeOf(link).ifPresent(node -> node.welcomed = true);
  }

  void said(AgentLink link, ControlMessage.FromAgent message) {
    nodeOf(link).ifPresent(node -> hear(node, message));
  }

  void ended(AgentLink link, String why) {
    nodeOf(link)
        .ifPresent(node -> {
          roster.disconnect(
              node,
              Contact.TORN,
              "the connection of node " + node.name + " broke",
              nanoTime.getAsLong());
          events.nodeTorn(node, why);
        });
  }

  private Optional<ControlMessage.Refusal> refusal(
      String enrolledAgentId, ControlMessage.Hello hello) {
    FleetNode known = roster.nodes.get(hello.node());
    if (!hello.agentId().equals(enrolledAgentId)
        || (known != null && !known.agentId.equals(hello.agentId()))) {
      return Optional.of(
          new ControlMessage.Refusal(
              "name-taken",
              "Another agent holds the name %s. Give this one another: 'flotilla agent --name NAME'. If that agent is gone for good, 'flotilla forget %s' gives its name free."
                  .formatted(hello.node(), hello.node()),
              false));
    }
    if (known != null && hello.generation() < known.generation) {
      return Optional.of(
          new ControlMessage.Refusal(
              "stale",
              "Generation %d of the agent of node %s is over: generation %d was started after it."
                  .formatted(hello.generation(), hello.node(), known.generation),
              false));
    }
    if (known == null && roster.nodes.size() >= limits.nodesMax()) {
      return Optional.of(
          new ControlMessage.Refusal(
              "too-many-nodes",
              "This hub has %d nodes and takes in no more.".formatted(limits.nodesMax()),
              true));
    }
    return Optional.empty();
  }

  private void takeIn(AgentLink link, ControlMessage.Hello hello) {
    FleetNode node = roster.nodes.get(hello.node());
    boolean joined = node == null;
    if (node == null) {
      node = newNode(hello.node(), hello.agentId());
      roster.nodes.put(node.name, node);
    }
    AgentLink before = node.link;
    node.link = link;
    node.welcomed = false;
    node.told = null;
    node.contact = Contact.HEARD;
    node.contactReason = "";
    node.gone = false;
    node.replacedInSeconds = 0;
    node.generation = hello.generation();
    node.agentVersion = hello.version();
    node.facts = hello.facts();
    node.rememberedFacts = hello.facts();
    node.heardAt = clock.instant();
    node.heardNanos = nanoTime.getAsLong();
    node.strangers = hello.workers();
    node.laneCounts = List.of();
    roster.progress.forget(node.name);
    roster.joined(node);
    roster.hearAll(node, hello.workers());
    roster.repeatOrders(node);
    roster.changed = true;
    if (joined) {
      events.nodeJoined(node);
    } else {
      events.nodeBack(node);
    }
    rollout.back(node, node.heardNanos);
    if (before != null) {
      before.cut("a newer control lane of the node took its place");
    }
  }

  /** The node, where this is its link of now. */
  private Optional<FleetNode> nodeOf(AgentLink link) {
    return Optional.ofNullable(roster.nodes.get(link.node())).filter(n -> link.equals(n.link));
  }

  private void hear(FleetNode node, ControlMessage.FromAgent message) {
    node.heardAt = clock.instant();
    node.heardNanos = nanoTime.getAsLong();
    if (node.contact == Contact.SILENT) {
      node.contact = Contact.HEARD;
      node.contactReason = "";
      roster.changed = true;
      events.nodeBack(node);
    }
    switch (message) {
      case ControlMessage.Hello _ -> {
        // Only the first message of a lane is a hello.
      }
      case ControlMessage.Heartbeat heartbeat -> {
        node.facts = heartbeat.facts();
        node.laneCounts = heartbeat.lanes();
        roster.hearAll(node, heartbeat.workers());
      }
      case ControlMessage.WorkerChanged worker -> roster.hear(node, worker.worker());
      case ControlMessage.Happened happened -> events.fromAgent(node, happened);
      case ControlMessage.Progress progress ->
          roster.changed |= roster.progress.heard(node.name, progress, clock.instant());
      case ControlMessage.UpdateStep step -> rollout.said(node, step, nanoTime.getAsLong());
      case ControlMessage.Goodbye goodbye -> {
        String why = "the agent of node " + node.name + " ended";
        AgentLink link = node.link;
        roster.disconnect(node, Contact.ENDED, why, nanoTime.getAsLong());
        node.workers.values().forEach(worker -> worker.report = null);
        events.nodeEnded(node, goodbye.reason());
        if (link != null) {
          link.cut("the agent said goodbye");
        }
      }
    }
  }
}
