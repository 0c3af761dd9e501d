package dev.flotilla.hub.gateway;

import java.util.Optional;

/** Says who asks. Called for each request on its own thread: it must answer from memory. */
public interface Authenticator {

  /** Whether requests without a key are refused. */
  boolean required();

  /**
   * The key that the bearer token belongs to; empty for one that is unknown, revoked or malformed.
   */
  Optional<ClientKey> authenticate(String bearer);

  /** Demands nothing and knows nobody: for a hub on loopback without keys. */
  static Authenticator open() {
    return new Authenticator() {
      @Override
      public boolean required() {
        return false;
      }

      @Override
      public Optional<ClientKey> authenticate(String bearer) {
        return Optional.empty();
      }
    };
  }
}
