package dev.flotilla.wire.connection;

import java.io.IOException;
import java.time.Duration;

/** An exchange took longer than one of its limits, and its connection was closed for that. */
public final class DeadlineExceeded extends IOException {
  private static final long serialVersionUID = 1;

  /** Which limit it was. */
  public enum Limit {
    FIRST_BYTE("no byte of a reply came"),
    GAP("no further chunk of the reply came"),
    WHOLE("the reply was not whole");

    private final String what;

    Limit(String what) {
      this.what = what;
    }
  }

  private final Limit limit;

  DeadlineExceeded(Limit limit, Duration allowed, Throwable cause) {
    super(limit.what + " within " + words(allowed), cause);
    this.limit = limit;
  }

  public Limit limit() {
    return limit;
  }

  private static String words(Duration time) {
    return time.toMillis() % 1000 == 0 ? time.toSeconds() + " s" : time.toMillis() + " ms";
  }
}
