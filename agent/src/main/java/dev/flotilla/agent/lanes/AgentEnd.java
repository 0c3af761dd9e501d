package dev.flotilla.agent.lanes;

/**
 * Why an agent is over, where no further try could help without a person.
 *
 * @param code stable word for programs: {@code bad-token}, {@code no-token}, {@code name-taken},
 *     {@code no-hub}, {@code closed}, {@code replaced}, or the hub's own word for a refusal, such
 *     as {@code stale}
 * @param reason what happened and what to do, for a person
 */
public record AgentEnd(String code, String reason) {

  /** Another version of the agent takes its place. */
  public static final String REPLACED = "replaced";

  /** It never joined a hub, and was given no token to do so. */
  public static final AgentEnd NOT_ENROLLED =
      new AgentEnd(
          "no-token",
          "This agent is not enrolled yet. Make a token on the hub's machine with"
              + " 'flotilla tokens create' and pass it with --token.");

  /** What answers at the address that was given for the hub's is something else. */
  static AgentEnd noHub(HubAddress address, int status) {
    return new AgentEnd(
        "no-hub",
        address
            + " answers (HTTP "
            + status
            + ") but is no Flotilla hub: name with --hub the address of one, which 'flotilla up' and"
            + " 'flotilla hub' say when they start.");
  }

  /** Whether the agent is to be replaced by another version of itself. */
  public boolean isReplacement() {
    return code.equals(REPLACED);
  }

  /** Whether the agent was closed by its own side, which is no failure. */
  public boolean isClosed() {
    return code.equals("closed");
  }
}
