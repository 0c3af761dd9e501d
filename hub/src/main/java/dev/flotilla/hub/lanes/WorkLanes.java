package dev.flotilla.hub.lanes;

import java.util.function.LongSupplier;

/** The work lanes of every node: one {@code WorkLanePool} each. */
public final class WorkLanes implements AutoCloseable {
  private final LaneLimits limits;
  private final LongSupplier nanoTime;

  public WorkLanes(LaneLimits limits, LongSupplier nanoTime) {
    this.limits = limits;
    this.nanoTime = nanoTime;
  }

  public LaneLimits limits() {
    return limits;
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException("at " + nanoTime.getAsLong());
  }
}
