package dev.flotilla.hub.releases;

import dev.flotilla.wire.release.Release;
import java.time.Instant;

/**
 * A release that this hub has, as its file {@code flotilla-VERSION.zip.json} says.
 *
 * @param attempt how often it was offered: agents where it failed take it again at a higher number
 * @param at when it was offered last
 * @param by who did
 */
public record StoredRelease(
    String version,
    long bytes,
    String sha256,
    String signature,
    long attempt,
    Instant at,
    String by) {

  Release release() {
    return new Release(version, bytes, sha256, signature);
  }
}
