package dev.flotilla.hub;

import dev.flotilla.hub.api.HubStatus.Notice;
import dev.flotilla.hub.spec.Revisions;
import dev.flotilla.hub.store.StoreHealth;
import dev.flotilla.wire.lanes.ControlMessage.Severity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a person must know of a hub before anything else. */
final class Notices {
  private Notices() {}

  /** The notices that follow from how things are, worst first. */
  static List<Notice> of(
      HubConfig config,
      boolean keysDemanded,
      StoreHealth store,
      Optional<Revisions.Rejection> rejection,
      long revision) {
    List<Notice> notices = new ArrayList<>();
    if (store instanceof StoreHealth.Failing failing) {
      notices.add(
          new Notice(
              Severity.ERROR,
              "store-failing",
              "Serving goes on, but nothing new is remembered: " + failing.what()));
    }
    rejection.ifPresent(rejected ->
        notices.add(
            new Notice(
                Severity.ERROR,
                "revision-rejected",
                "The last configuration was rejected, revision "
                    + revision
                    + " stays in force: "
                    + rejected.problems().getFirst())));
    if (!config.loopbackOnly() && !keysDemanded) {
      notices.add(
          new Notice(
              Severity.WARNING,
              "no-keys",
              "Whoever reaches this hub may use and configure it: it listens beyond this machine"
                  + " and demands no keys (--allow-no-keys)."));
    }
    if (!config.loopbackOnly() && config.certificate().isEmpty()) {
      notices.add(
          new Notice(
              Severity.WARNING,
              "no-tls",
              "Keys and prompts cross the network in the clear: start the hub with --tls-cert and"
                  + " --tls-key, or put a TLS proxy before it."));
    }
    return notices;
  }
}
