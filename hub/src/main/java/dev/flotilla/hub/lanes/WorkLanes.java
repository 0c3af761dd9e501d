package dev.flotilla.hub.lanes;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.LongSupplier;

/**
 * The work lanes of every node: one {@link WorkLanePool} each, made when the node is first heard
 * of. Only enrolled nodes get one, so their number is bounded by the fleet's.
 */
public final class WorkLanes implements AutoCloseable {
  private final LaneLimits limits;
  private final LongSupplier nanoTime;
  private final ConcurrentMap<String, WorkLanePool> pools = new ConcurrentHashMap<>();

  /**
   * Work lanes of no node yet.
   *
   * @param nanoTime a clock that never jumps, such as {@code System::nanoTime}
   */
  public WorkLanes(LaneLimits limits, LongSupplier nanoTime) {
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  public LaneLimits limits() {
    return limits;
  }

  /** The lanes of one node. */
  public WorkLanePool pool(String node) {
    return pools.computeIfAbsent(node, name -> new WorkLanePool(name, limits, nanoTime));
  }

  /** Closes what was idle for too long; {@link LaneUpgrades} calls this every second. */
  void sweep() {
    pools.values().forEach(WorkLanePool::sweep);
  }

  /** Closes every lane. */
  @Override
  public void close() {
    pools.values().forEach(WorkLanePool::closeAll);
  }
}
