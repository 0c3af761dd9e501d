package dev.flotilla.agent.policy;

/** A policy file that can't be used: one sentence with the file, the line and what is expected. */
public final class PolicyRefused extends Exception {
  private static final long serialVersionUID = 1L;

  PolicyRefused(String message) {
    super(message);
  }
}
