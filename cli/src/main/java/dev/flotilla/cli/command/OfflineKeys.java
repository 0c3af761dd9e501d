package dev.flotilla.cli.command;

import dev.flotilla.cli.home.HomeLock;
import dev.flotilla.cli.output.Failure;
import dev.flotilla.hub.keys.Keys.Creation;
import dev.flotilla.hub.keys.Keys.Role;
import dev.flotilla.hub.store.Store;
import dev.flotilla.hub.store.StoreFailed;
import dev.flotilla.hub.store.StoreLimits;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;

/** Makes keys in the state folder of a hub that does not run: one must exist before it may. */
final class OfflineKeys {
  private OfflineKeys() {}

  /** The new key; it is stored when this returns. */
  static String create(Path home, String name, boolean admin) {
    try (HomeLock held = HomeLock.take(home, "hub", "flotilla keys create");
        Store store = Store.open(home, StoreLimits.DEFAULT, InstantSource.system())) {
      held.listensAt("");
      Creation creation =
          new dev.flotilla.hub.keys.Keys(store, true, InstantSource.system(), new SecureRandom())
              .create(name, admin ? Role.ADMIN : Role.CLIENT);
      return switch (creation) {
        case Creation.Created created -> created.secret();
        case Creation.Refused refused -> throw new Failure(refused.why());
      };
    } catch (StoreFailed e) {
      throw new Failure(e.sentence(), e);
    }
  }
}
