package dev.flotilla.hub.lanes;

import dev.flotilla.wire.lanes.ControlMessage;

/**
 * Where control lanes report. Calls come from the lanes' own threads, for one lane in order: {@link
 * #hello} once, then {@link #said} for each message, and {@link #ended} once where hello was
 * answered with a welcome.
 */
public interface AgentDesk {

  /**
   * Decides about an agent that introduced itself.
   *
   * @param enrolledAgentId the agent that the credential was given to
   */
  Admission hello(AgentLink link, String enrolledAgentId, ControlMessage.Hello hello);

  /** A message on a lane that was welcomed. Words on a lane that was replaced are ignored. */
  void said(AgentLink link, ControlMessage.FromAgent message);

  /** The lane is over. */
  void ended(AgentLink link, String why);

  /** The answer to a hello. */
  sealed interface Admission {

    /**
     * Taken in; the welcome is sent, then {@link Admitted#then} runs, which may send what is wanted
     * of the node.
     */
    record Admitted(ControlMessage.Welcome welcome, Runnable then) implements Admission {}

    /** Not taken in; the refusal is sent and the lane closed. */
    record Refused(ControlMessage.Refusal refusal) implements Admission {}
  }
}
