package dev.flotilla.agent.lanes;

/**
 * Why an agent is over, where no further try could help without a person.
 *
 * @param code stable word for programs: {@code bad-token}, {@code no-token}, {@code name-taken},
 *     {@code closed}, or the hub's own word for a refusal, such as {@code stale-generation}
 * @param reason what happened and what to do, for a person
 */
public record AgentEnd(String code, String reason) {

  /** Whether the agent was closed by its own side, which is no failure. */
  public boolean isClosed() {
    return code.equals("closed");
  }
}
