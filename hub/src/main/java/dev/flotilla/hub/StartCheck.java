package dev.flotilla.hub;

import dev.flotilla.hub.gateway.HubListener;
import dev.flotilla.server.http.HttpServer;
import dev.flotilla.server.http.HttpServer.Place;
import dev.flotilla.server.http.ListenFailed;
import dev.flotilla.wire.connection.Authorities;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * What can be said of a hub before anything is made for it, so that a start that must fail leaves
 * no state folder behind. The start itself looks again: what holds here may not hold then.
 */
public final class StartCheck {
  private StartCheck() {}

  /**
   * Looks at all that a hub needs outside its home, which is a new one: its address, its
   * certificate, the authorities of its backends; and whether it may run without keys.
   *
   * @throws HubRefused where it couldn't start
   */
  public static void pass(HubConfig config) throws HubRefused {
    if (!config.loopbackOnly() && !config.allowNoKeys()) {
      throw withoutKeys(config);
    }
    authorities(config.authorities());
    try {
      HttpServer.check(
          new Place(config.listen(), config.certificate(), Optional.empty()), HubListener.NAME);
    } catch (ListenFailed e) {
      throw new HubRefused(String.valueOf(e.getMessage()), e);
    }
  }

  /** Why a hub that others can reach does not run before it has a key. */
  static HubRefused withoutKeys(HubConfig config) {
    return new HubRefused(
        "listening on "
            + config.listen().getAddress().getHostAddress()
            + " lets other machines in, and this hub has no keys yet: make one with 'flotilla keys"
            + " create --admin me --home "
            + config.home()
            + "', or name --allow-no-keys if all who reach this machine may use it");
  }

  /** Trust in the named authorities beside the machine's own; empty where none are named. */
  static Optional<SSLContext> authorities(Optional<Path> pem) throws HubRefused {
    if (pem.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(Authorities.with(pem.get()));
    } catch (IOException e) {
      throw new HubRefused("--ca: " + e.getMessage(), e);
    }
  }
}
