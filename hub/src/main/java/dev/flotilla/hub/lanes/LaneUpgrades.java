package dev.flotilla.hub.lanes;

import io.helidon.webserver.http1.spi.Http1Upgrader;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The two upgrades by which agents' connections become lanes. Register {@link #upgraders()} with
 * the server's {@code Http1ConnectionSelector}, and {@link EnrolService} with its routing.
 */
public final class LaneUpgrades implements AutoCloseable {
  private final List<Http1Upgrader> upgraders = List.of();

  public LaneUpgrades(
      NodeCredentials credentials, AgentDesk desk, WorkLanes lanes, LongSupplier nanoTime) {
    throw new UnsupportedOperationException();
  }

  /**
   * {@code flotilla-control} at {@code /lanes/control}, {@code flotilla-work} at {@code
   * /lanes/work}.
   */
  public List<Http1Upgrader> upgraders() {
    return upgraders;
  }

  @Override
  public void close() {}
}
