package dev.flotilla.agent;

import dev.flotilla.agent.lanes.AgentLaneLimits;
import dev.flotilla.agent.lanes.HubAddress;
import dev.flotilla.agent.models.DownloadLimits;
import dev.flotilla.agent.update.UpdateRules;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * How an agent is started.
 *
 * @param hub where the hub is
 * @param home the agent's state folder
 * @param version the agent's version, as it tells the hub
 * @param token for the enrolment, a secret; not needed once enrolled
 * @param node the node's name in the fleet; without it the one that the agent enrolled under, else
 *     the machine's host name, made valid
 * @param authorities PEM file of the authorities that the hub's certificate is verified against;
 *     without it the machine's own
 * @param environment looked up for {@code HF_ENDPOINT} and {@code HF_TOKEN}
 * @param updates whether it lets itself be replaced by another version
 */
public record AgentConfig(
    HubAddress hub,
    Path home,
    String version,
    Optional<String> token,
    Optional<String> node,
    Optional<Path> authorities,
    Map<String, String> environment,
    UpdateRules updates,
    AgentLaneLimits lanes,
    DownloadLimits downloads) {

  public AgentConfig {
    environment = Map.copyOf(environment);
  }

  /**
   * An agent that is enrolled already, under the name that it has there, with the machine's
   * authorities, the process's environment and the default limits, which is never replaced.
   */
  public static AgentConfig of(HubAddress hub, Path home, String version) {
    return new AgentConfig(
        hub,
        home,
        version,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        System.getenv(),
        new UpdateRules(home.resolve("agent").resolve("policy.yaml"), List.of(), false),
        AgentLaneLimits.DEFAULT,
        DownloadLimits.defaults());
  }

  public AgentConfig withToken(Optional<String> secret) {
    return new AgentConfig(
        hub, home, version, secret, node, authorities, environment, updates, lanes, downloads);
  }

  public AgentConfig withNode(Optional<String> name) {
    return new AgentConfig(
        hub, home, version, token, name, authorities, environment, updates, lanes, downloads);
  }

  public AgentConfig withAuthorities(Optional<Path> file) {
    return new AgentConfig(
        hub, home, version, token, node, file, environment, updates, lanes, downloads);
  }

  public AgentConfig withUpdates(UpdateRules rules) {
    return new AgentConfig(
        hub, home, version, token, node, authorities, environment, rules, lanes, downloads);
  }

  /** Token and environment are left out: they are secrets, or may hold some. */
  @Override
  public String toString() {
    return "AgentConfig["
        + hub
        + ", "
        + home
        + ", "
        + node.orElse("named as enrolled, or by the host")
        + "]";
  }
}
