package dev.flotilla.hub.gateway;

import dev.flotilla.wire.connection.DeadlineExceeded;
import dev.flotilla.wire.openai.ApiError;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt failed before anything of its reply reached the client, so that another target can be
 * tried.
 */
final class AttemptFailed extends Exception {
  private static final long serialVersionUID = 1;

  /** Whose fault it was. */
  enum Blame {
    /** The target's, as far as one can see from here. */
    TARGET,
    /** The target's, if another target serves the same request; else the request is to blame. */
    DOUBTFUL,
    /** Nobody's: the target is sound but can't do this. */
    NOBODY
  }

  private final Blame blame;
  private final boolean ran;
  private final boolean stalled;

  @SuppressWarnings("serial") // never written: it lives as long as one request
  private final @Nullable ApiError error;

  private AttemptFailed(
      String reason, Blame blame, boolean ran, boolean stalled, @Nullable ApiError error) {
    super(reason, null, false, false);
    this.blame = blame;
    this.ran = ran;
    this.stalled = stalled;
    this.error = error;
  }

  /** The target was not reached: it has not seen the request. */
  static AttemptFailed unreached(String reason) {
    return new AttemptFailed(reason, Blame.TARGET, false, false, null);
  }

  /** The target got the request and broke off, or was silent for longer than it may be. */
  static AttemptFailed of(IOException failure) {
    boolean stalled =
        failure instanceof DeadlineExceeded late && late.limit() != DeadlineExceeded.Limit.WHOLE;
    return new AttemptFailed(Upstream.words(failure), Blame.TARGET, true, stalled, null);
  }

  /** The target answered, but not what was asked for. */
  static AttemptFailed answered(String reason, Blame blame, ApiError error) {
    return new AttemptFailed(reason, blame, false, false, error);
  }

  String reason() {
    return String.valueOf(getMessage());
  }

  Blame blame() {
    return blame;
  }

  /** Whether the target may have worked on the request when it failed. */
  boolean ran() {
    return ran;
  }

  /** Whether the target kept its connection and was silent for too long: it may hang. */
  boolean stalled() {
    return stalled;
  }

  /** Whether no answer came: the target may have died. */
  boolean silent() {
    return error == null;
  }

  /** What the client is told if no other target can do it; null: that the attempts failed. */
  @Nullable ApiError error() {
    return error;
  }
}
