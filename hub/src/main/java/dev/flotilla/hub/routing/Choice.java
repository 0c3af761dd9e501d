package dev.flotilla.hub.routing;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Picks among targets that have room. */
final class Choice {
  /** Expected times this close are taken as equal: what is learned is no more exact than that. */
  private static final double TIE_RATIO = 1.1;

  private static final double TIE_SECONDS = 0.02;

  /**
   * @param inFlight requests on the target now
   * @param seconds expected time of the request on it
   */
  record Candidate(Target target, int inFlight, double seconds) {}

  private Choice() {}

  /**
   * The one with the least expected time; of those that are nearly as good the one with the fewest
   * requests in flight; of those each in turn.
   *
   * @param turn a number that grows with each choice
   * @return null where there are no candidates
   */
  static @Nullable Target pick(List<Candidate> candidates, int turn) {
    double best = Double.POSITIVE_INFINITY;
    for (Candidate each : candidates) {
      best = Math.min(best, each.seconds());
    }
    double tie = best * TIE_RATIO + TIE_SECONDS;
    int fewest = Integer.MAX_VALUE;
    int equals = 0;
    for (Candidate each : candidates) {
      if (each.seconds() <= tie) {
        if (each.inFlight() < fewest) {
          fewest = each.inFlight();
          equals = 0;
        }
        equals += each.inFlight() == fewest ? 1 : 0;
      }
    }
    int wanted = equals == 0 ? 0 : Math.floorMod(turn, equals);
    for (Candidate each : candidates) {
      if (each.seconds() <= tie && each.inFlight() == fewest && wanted-- == 0) {
        return each.target();
      }
    }
    return null;
  }
}
