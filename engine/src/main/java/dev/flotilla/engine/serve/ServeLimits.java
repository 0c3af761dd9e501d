package dev.flotilla.engine.serve;

import dev.flotilla.server.http.ServerLimits;
import java.time.Duration;

/**
 * What the engine's server takes in.
 *
 * @param server what it takes from clients as any server of ours
 * @param bodiesBytesMax bytes of all bodies that are read at a time
 * @param keepAlive how long a stream is silent before it gets a comment that says that it lives
 */
public record ServeLimits(ServerLimits server, long bodiesBytesMax, Duration keepAlive) {
  /** The defaults, as docs/limits.md has them. */
  public static final ServeLimits DEFAULT = of(ServerLimits.of(16 << 20, 2048));

  /** The defaults with other ones for what it takes from clients. */
  public static ServeLimits of(ServerLimits server) {
    return new ServeLimits(server, 16L << 20, Duration.ofSeconds(5));
  }
}
