package dev.flotilla.engine.start;

import java.util.Locale;
import java.util.StringJoiner;
import java.util.function.LongSupplier;

/** How long the parts of a start took, one after another. */
final class StartTimes {
  private final LongSupplier nanoClock;
  private final StringJoiner parts = new StringJoiner(", ");
  private long since;

  /** Times from now on. */
  StartTimes(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    since = nanoClock.getAsLong();
  }

  /** A part has ended, and the next begins. */
  void passed(String part) {
    long now = nanoClock.getAsLong();
    parts.add(String.format(Locale.ROOT, "%s %.2f s", part, (now - since) / 1e9));
    since = now;
  }

  @Override
  public String toString() {
    return parts.toString();
  }
}
