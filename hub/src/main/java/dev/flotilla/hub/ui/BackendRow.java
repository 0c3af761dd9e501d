package dev.flotilla.hub.ui;

import dev.flotilla.hub.routing.Target;
import dev.flotilla.hub.routing.TargetLoad;
import org.jspecify.annotations.Nullable;

/** A server without an agent, as far as the dispatcher knows it. */
record BackendRow(
    String id,
    String name,
    String model,
    boolean reachable,
    int inFlight,
    int slots,
    String speed) {
  static BackendRow of(Target target, @Nullable TargetLoad load) {
    return new BackendRow(
        DashboardView.rowId("b", target.name()),
        DashboardView.clip(target.name()),
        DashboardView.clip(target.upstreamModel()),
        target.admitting(),
        load == null ? 0 : load.inFlight(),
        target.slots(),
        DashboardView.tokensPerSecond(load));
  }
}
