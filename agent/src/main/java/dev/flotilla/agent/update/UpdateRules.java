package dev.flotilla.agent.update;

import dev.flotilla.agent.update.Versions.Failure;
import dev.flotilla.wire.lanes.ControlMessage.UpdateOffered;
import dev.flotilla.wire.release.Release;
import dev.flotilla.wire.release.ReleaseKey;
import dev.flotilla.wire.release.ReleaseVersion;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Whether this agent lets itself be replaced, and by what.
 *
 * @param policy the file that names the keys, for messages
 * @param keys one of them must have signed a release; none: no release is ever taken
 * @param launched whether a launcher waits to start what replaces it
 */
public record UpdateRules(Path policy, List<ReleaseKey> keys, boolean launched) {

  public UpdateRules {
    keys = List.copyOf(keys);
  }

  /** Why the offer is not taken, the end of a sentence; empty where it is. */
  Optional<String> refusal(UpdateOffered offer, String running, Optional<Failure> failure) {
    Release release = offer.release();
    if (release.problem().isPresent()) {
      return Optional.of("the offer is broken: " + release.problem().get());
    }
    if (keys.isEmpty()) {
      return Optional.of(
          "its policy names no key for updates, so it never updates itself (update: keys in "
              + policy
              + ")");
    }
    if (!launched) {
      return Optional.of(
          "it does not run under the launcher, which would have to start the new version; start it"
              + " with './flotilla agent'");
    }
    if (keys.stream().noneMatch(key -> key.signed(release))) {
      return Optional.of(
          "its signature is by none of the keys that the policy names (" + policy + ")");
    }
    if (!ReleaseVersion.isOlder(running, release.version())) {
      return Optional.of("it is not newer than what runs, " + running);
    }
    return failure
        .filter(before -> before.attempt() >= offer.attempt())
        .map(before ->
            "it failed here before: "
                + before.reason()
                + " ('flotilla update offer --again' has it tried once more)");
  }
}
