package dev.flotilla.agent.lanes;

import dev.flotilla.wire.http.Http1;
import dev.flotilla.wire.http.Http1Limits;
import dev.flotilla.wire.http.HttpCall;
import dev.flotilla.wire.http.HttpHeaders;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * Whether what answers at an address is a hub: asked before an agent that has not joined one makes
 * anything of its own. Nothing but lanes is dialled where it asks, so any other server says no.
 */
public final class HubCheck {
  /** What a hub or a proxy before it may say to who asks for a lane without an upgrade. */
  private static final Set<Integer> PERHAPS_A_HUB = Set.of(403, 408, 426, 429);

  private HubCheck() {}

  /**
   * Why no agent can join there; empty where a hub answers, or nobody does yet.
   *
   * @param authorities as {@link HubDialer} takes them
   */
  public static Optional<AgentEnd> noHub(
      HubAddress address, Optional<Path> authorities, AgentLaneLimits limits) {
    try (HubConnection hub = new HubDialer(address, authorities, limits).dial()) {
      Http1 http = new Http1(hub, address.hostHeader(), Http1Limits.DEFAULTS);
      int status =
          http.exchange(HttpCall.get(LaneUpgrade.CONTROL.path(), HttpHeaders.NONE)).status();
      return status >= 500 || PERHAPS_A_HUB.contains(status)
          ? Optional.empty()
          : Optional.of(AgentEnd.noHub(address, status));
    } catch (IOException later) {
      // The control lane says why, and tries again: a hub may start after its agents.
      return Optional.empty();
    }
  }
}
