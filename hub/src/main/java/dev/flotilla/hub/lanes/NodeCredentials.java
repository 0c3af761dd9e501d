package dev.flotilla.hub.lanes;

import java.util.Optional;

/**
 * Who may dial lanes. Implemented by the store, which keeps hashes only; an answer to {@link
 * #enrol} is given after its commit. Both calls may block for a disk's time and are made on virtual
 * threads.
 */
public interface NodeCredentials {

  /**
   * The id of the agent that {@code node} is enrolled for, where {@code credential} is that node's;
   * empty where it is not, for whatever reason.
   */
  Optional<String> verify(String node, String credential);

  /** Takes an agent in for a token: the credential is told this once and never again. */
  Enrolment enrol(String token, String node, String agentId);

  /** What came of an enrolment. */
  sealed interface Enrolment {

    /** Taken in; the credential is a secret. */
    record Enrolled(String credential) implements Enrolment {
      @Override
      public String toString() {
        return "Enrolled[]";
      }
    }

    /**
     * The token is none of this hub's, is used up or is over.
     *
     * @param why one sentence
     */
    record BadToken(String why) implements Enrolment {}

    /** Another agent holds the name. */
    record NameTaken() implements Enrolment {}

    /**
     * It could not be remembered, and so was not done: the agent may try again with the same token.
     *
     * @param why one sentence
     */
    record NotNow(String why) implements Enrolment {}
  }
}
