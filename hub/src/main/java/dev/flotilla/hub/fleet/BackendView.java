package dev.flotilla.hub.fleet;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * How a backend stands.
 *
 * @param reason why it is not reachable, one sentence without its end; else empty
 * @param since when it came into this state; null where nothing was heard yet
 */
public record BackendView(String name, State state, String reason, @Nullable Instant since) {

  /** Whether it is asked. */
  public enum State {
    /** Nothing was heard of it yet; it is asked all the same. */
    UNKNOWN,
    /** It answered. */
    REACHABLE,
    /** It did not: nothing is sent to it until it answers again. */
    UNREACHABLE,
    /** The hub's environment lacks its key. */
    WITHOUT_KEY
  }
}
