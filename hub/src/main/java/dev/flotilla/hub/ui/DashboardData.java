package dev.flotilla.hub.ui;

import dev.flotilla.hub.fleet.NodeView;
import dev.flotilla.hub.fleet.WorkerView;
import dev.flotilla.hub.proof.ProofRecord;
import dev.flotilla.hub.routing.FleetSnapshot;
import dev.flotilla.hub.routing.TargetLoad;
import dev.flotilla.hub.store.Event;
import dev.flotilla.hub.store.StoredReport;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.util.List;

/**
 * What the dashboard shows, read at the moment of the call. Every method is quick and safe to call
 * from any thread; none waits for the network. Texts may come from anywhere (engines, agents, a
 * configuration file): the dashboard escapes all of them.
 */
public interface DashboardData {

  /** Every worker, in the order of the table. */
  List<WorkerView> workers();

  /** Every node, in the order of the table. */
  List<NodeView> nodes();

  /** What the dispatcher knows of its targets; those that it never met may be missing. */
  List<TargetLoad> loads();

  /** The public names with their targets, and the revision in force. */
  FleetSnapshot fleet();

  /** The newest {@code count} events, newest first. */
  List<Event> events(int count);

  /** Long steps that run now on the nodes: downloads, installations. */
  List<Progress> progress();

  /** The last proof of each worker, the newest first. */
  List<ProofRecord> proofs();

  /** The newest {@code count} stored reports, newest first. */
  List<Report> reports(int count);

  /** What a person must know before anything else, worst first; empty when all is well. */
  List<Notice> banner();

  /**
   * Runs {@code listener} after each change of anything above but {@link #loads()}, on the thread
   * that made it. The listener returns at once. Loads change with every request and are read once a
   * second instead, while somebody looks.
   */
  void onChange(Runnable listener);

  /**
   * A long step on a node.
   *
   * @param subject what it is for: a model reference or an engine
   * @param step what is being done, in words
   * @param doneBytes how far it is
   * @param totalBytes how far it goes, -1 where unknown
   */
  record Progress(String node, String subject, String step, long doneBytes, long totalBytes) {}

  /**
   * A stored report.
   *
   * @param path where its page is, on this hub
   */
  record Report(StoredReport head, String path) {}

  /**
   * One line of the banner.
   *
   * @param message what happened, where, and what to do
   */
  record Notice(Severity severity, String message) {}
}
