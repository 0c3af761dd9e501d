package dev.flotilla.hub.store;

import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import java.util.Optional;

/**
 * What the fleet must still know after a restart of the hub: which nodes there are and what was
 * placed on them, so that a restart moves and stops nothing. Implemented by the store.
 */
public interface FleetMemory {

  /** Every node, as saved last. Read once, at the start. */
  List<RememberedNode> nodes();

  /**
   * Keeps a node, in place of what was kept under its name. Only enqueues: never blocks, never
   * throws; a node saved twice before it is written may be written once.
   */
  void save(RememberedNode node);

  /**
   * A node and what it is to run.
   *
   * @param generation highest generation of its agent that was taken in
   * @param facts last facts heard
   * @param drainedBy who drained the node by hand, empty where nobody did
   */
  record RememberedNode(
      String name,
      String agentId,
      long generation,
      String agentVersion,
      Optional<NodeFacts> facts,
      String drainedBy,
      List<RememberedWorker> workers) {
    public RememberedNode {
      workers = List.copyOf(workers);
    }
  }

  /**
   * A placed worker.
   *
   * @param generation highest launch heard of, 0 before the first
   * @param drainedBy who drained it by hand, empty where nobody did
   */
  record RememberedWorker(WorkerSpec spec, long generation, String drainedBy) {}
}
