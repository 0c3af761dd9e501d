package dev.flotilla.hub.routing;

/** Where the gateway reads what can be called. */
public interface FleetSource {
  FleetSnapshot current();

  /**
   * Runs {@code listener} after each change of {@link #current()}, on the thread that made it; it
   * must not block.
   */
  void onChange(Runnable listener);
}
