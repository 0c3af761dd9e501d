package dev.flotilla.hub.ui;

/**
 * Who may see the dashboard: everybody, or who has the only key.
 *
 * @param key empty where none is demanded
 */
record OneKey(String key) implements DashboardAccess {
  @Override
  public boolean keysDemanded() {
    return !key.isEmpty();
  }

  @Override
  public boolean admits(String bearerToken) {
    return bearerToken.equals(key);
  }
}
