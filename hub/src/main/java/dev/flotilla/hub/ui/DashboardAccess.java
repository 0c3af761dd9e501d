package dev.flotilla.hub.ui;

/** Who may see the fleet. */
public interface DashboardAccess {

  /** Whether a key is demanded: then the page holds nothing of the fleet until one is given. */
  boolean keysDemanded();

  /**
   * Whether the bearer token is a key that is in force. Called once for each connection of a page,
   * and may take as long as hashing takes.
   */
  boolean admits(String bearerToken);
}
