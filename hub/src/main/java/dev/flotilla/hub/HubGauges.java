package dev.flotilla.hub;

import dev.flotilla.hub.fleet.Fleet;
import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.gateway.Metrics;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.store.Store;
import dev.flotilla.wire.lanes.ControlMessage.LaneCount;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The numbers of the parts that the gateway does not know: store, configuration, fleet, lanes. */
final class HubGauges {
  private final Fleet fleet;
  private final MultiGauge workers;
  private final MultiGauge connected;
  private final MultiGauge idle;
  private final MultiGauge open;
  private final MultiGauge opened;
  private final MultiGauge refused;
  private final MultiGauge bytes;

  private HubGauges(Metrics metrics, Fleet fleet) {
    this.fleet = fleet;
    workers = multi(metrics, "flotilla.workers", "Workers in each state");
    connected = multi(metrics, "flotilla.node.connected", "1 while the node's agent is connected");
    idle = multi(metrics, "flotilla.lanes.idle", "Work lanes of a node that wait to be opened");
    open = multi(metrics, "flotilla.lanes.open", "Work lanes of a node that are open to a worker");
    opened = multi(metrics, "flotilla.lanes.opened", "Work lanes that were opened to a worker");
    refused = multi(metrics, "flotilla.lanes.refused", "Openings that a worker's agent refused");
    bytes =
        multi(metrics, "flotilla.lanes.bytes", "Bytes through work lanes, to and from a worker");
  }

  static void add(Metrics metrics, Store store, Revisions revisions, Fleet fleet) {
    metrics.gauge(
        "flotilla.journal.dropped",
        "Rows of usage, events and history that were not stored",
        store::journalDropped);
    metrics.gauge(
        "flotilla.journal.waiting",
        "Rows of usage, events and history that wait to be stored",
        store::journalWaiting);
    metrics.gauge(
        "flotilla.store.writes.waiting",
        "Writes that somebody waits for, and that wait for the writer",
        store::writesWaiting);
    metrics.gauge(
        "flotilla.store.commits",
        "Transactions that were committed since the start",
        store::commits);
    metrics.gauge(
        "flotilla.store.failing",
        "1 while nothing can be stored",
        () -> store.health().ok() ? 0 : 1);
    metrics.gauge(
        "flotilla.revision", "The configuration in force", () -> revisions.inForce().number());
    metrics.gauge(
        "flotilla.revisions.rejected",
        "Configurations that were rejected since the start",
        revisions::rejections);
    metrics.beforeScrape(new HubGauges(metrics, fleet)::look);
  }

  private static MultiGauge multi(Metrics metrics, String name, String description) {
    return MultiGauge.builder(name).description(description).register(metrics.registry());
  }

  private void look() {
    List<WorkerView> all = fleet.workers();
    List<MultiGauge.Row<?>> states = new ArrayList<>();
    for (WorkerView.State state : WorkerView.State.values()) {
      Tags tags = Tags.of("state", state.name().toLowerCase(Locale.ROOT));
      states.add(
          MultiGauge.Row.of(tags, all.stream().filter(each -> each.state() == state).count()));
    }
    workers.register(states, true);
    List<MultiGauge.Row<?>> connections = new ArrayList<>();
    List<MultiGauge.Row<?>> idles = new ArrayList<>();
    List<MultiGauge.Row<?>> opens = new ArrayList<>();
    for (NodeView node : fleet.nodes()) {
      Tags tags = Tags.of("node", node.name());
      connections.add(MultiGauge.Row.of(tags, node.connected() ? 1 : 0));
      idles.add(MultiGauge.Row.of(tags, node.idleLanes()));
      opens.add(MultiGauge.Row.of(tags, node.openLanes()));
    }
    connected.register(connections, true);
    idle.register(idles, true);
    open.register(opens, true);
    lookAtLanes();
  }

  /** Counts of the agents, which begin anew with each start of an agent. */
  private void lookAtLanes() {
    List<MultiGauge.Row<?>> openings = new ArrayList<>();
    List<MultiGauge.Row<?>> refusals = new ArrayList<>();
    List<MultiGauge.Row<?>> through = new ArrayList<>();
    for (List<LaneCount> node : fleet.laneCounts().values()) {
      for (LaneCount count : node) {
        Tags tags = Tags.of("target", count.worker());
        openings.add(MultiGauge.Row.of(tags, count.opened()));
        refusals.add(MultiGauge.Row.of(tags, count.refused()));
        through.add(MultiGauge.Row.of(tags.and("direction", "in"), count.bytesIn()));
        through.add(MultiGauge.Row.of(tags.and("direction", "out"), count.bytesOut()));
      }
    }
    opened.register(openings, true);
    refused.register(refusals, true);
    bytes.register(through, true);
  }
}
