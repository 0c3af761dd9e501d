package dev.flotilla.engine.sample;

import java.util.List;
import java.util.Optional;

/**
 * Finds stop strings in an answer that comes in pieces. What could be the beginning of a stop
 * string is held back until it is known not to be one, so that no part of it is ever said.
 *
 * <p>Where several stop strings end at the same place, or one lies within another, the one that is
 * complete first counts, and of these the one that begins first. For one answer, one thread.
 */
public final class StopText {
  private final List<String> stops;
  private final boolean keep;
  private final StringBuilder held = new StringBuilder();
  private Optional<String> found = Optional.empty();

  /**
   * For one answer.
   *
   * @param stops none of them empty
   * @param keep whether the stop string itself belongs to the answer
   */
  public StopText(List<String> stops, boolean keep) {
    this.stops = List.copyOf(stops);
    this.keep = keep;
  }

  /** The stop string that was found. */
  public Optional<String> found() {
    return found;
  }

  /** More of the answer; what can be said of it by now. Nothing after a stop string was found. */
  public String add(String piece) {
    if (found.isPresent()) {
      return "";
    }
    if (stops.isEmpty()) {
      return piece;
    }
    int known = held.length();
    held.append(piece);
    for (int end = known + 1; end <= held.length(); end++) {
      Optional<String> stop = endingAt(end);
      if (stop.isPresent()) {
        found = stop;
        String said = held.substring(0, keep ? end : end - stop.get().length());
        held.setLength(0);
        return said;
      }
    }
    int from = held.length() - heldBack();
    String said = held.substring(0, from);
    held.delete(0, from);
    return said;
  }

  /** The answer has ended: what was held back belongs to it. */
  public String rest() {
    String said = held.toString();
    held.setLength(0);
    return said;
  }

  private Optional<String> endingAt(int end) {
    Optional<String> longest = Optional.empty();
    for (String stop : stops) {
      int from = end - stop.length();
      if (from >= 0
          && held.indexOf(stop, from) == from
          && stop.length() > longest.map(String::length).orElse(0)) {
        longest = Optional.of(stop);
      }
    }
    return longest;
  }

  /** The longest end of what is held that begins a stop string. */
  private int heldBack() {
    int most = 0;
    for (String stop : stops) {
      for (int length = Math.min(stop.length() - 1, held.length()); length > most; length--) {
        if (held.indexOf(stop.substring(0, length), held.length() - length)
            == held.length() - length) {
          most = length;
        }
      }
    }
    return most;
  }
}
