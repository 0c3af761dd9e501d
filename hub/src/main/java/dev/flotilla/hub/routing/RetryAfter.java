package dev.flotilla.hub.routing;

import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** When it is worth asking again, from the measured speeds. */
final class RetryAfter {
  static final Duration LEAST = Duration.ofSeconds(1);

  private static final Duration MOST = Duration.ofMinutes(2);

  /** Where nothing serves the name, or nobody knows who does. */
  private static final Duration UNKNOWN = Duration.ofSeconds(5);

  private final Speeds speeds;

  RetryAfter(Speeds speeds) {
    this.speeds = speeds;
  }

  /** How long it takes until {@code ahead} usual requests are through. */
  Duration of(FleetSnapshot.@Nullable Name name, int ahead, long now) {
    int slots = 0;
    double seconds = 0;
    if (name != null && !name.targets().isEmpty()) {
      RequestNeeds usual =
          new RequestNeeds(name.name(), Target.Capability.TEXT, "", 0, 0, 0, Set.of(), Set.of());
      Speeds.Neutral neutral = speeds.neutral(name.targets());
      for (Target target : name.targets()) {
        slots += target.slots();
        seconds +=
            target.slots() * speeds.expectedSeconds(target, usual, target.slots(), neutral, now);
      }
    }
    if (slots == 0) {
      return UNKNOWN;
    }
    double each = seconds / slots;
    Duration wait = Duration.ofSeconds((long) Math.ceil(ahead * each / slots));
    return wait.compareTo(MOST) > 0 ? MOST : atLeast(wait);
  }

  static Duration atLeast(Duration wait) {
    return wait.compareTo(LEAST) < 0 ? LEAST : wait;
  }
}
