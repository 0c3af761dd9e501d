package dev.flotilla.hub.proof;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * How fast a worker is: the answer to one request at several concurrencies, and the reading of
 * prompts of two lengths.
 *
 * @param levels by concurrency, growing
 * @param prefills by length, growing
 * @param memory bytes free on the machine before, at the least during, and after; 0 where unknown
 */
public record Curve(List<Level> levels, List<Prefill> prefills, Memory memory) {

  public Curve {
    levels = List.copyOf(levels);
    prefills = List.copyOf(prefills);
  }

  /**
   * So many requests at once.
   *
   * @param perRequest tokens of one answer a second, the mean over the requests
   * @param together tokens of all answers a second
   * @param firstTokenMillis mean time to the first token, of the answers that had one
   * @param tokens of all answers together
   * @param byTime whether the time was up before the answers were whole
   */
  public record Level(
      int concurrency,
      double perRequest,
      double together,
      double firstTokenMillis,
      int tokens,
      boolean byTime) {}

  /**
   * A prompt that was read.
   *
   * @param promptTokens tokens that were computed
   * @param perSecond of them
   * @param decodeAfter tokens of an answer a second behind such a prompt, 0 where not measured
   */
  public record Prefill(int promptTokens, double perSecond, double decodeAfter) {}

  /** Bytes free on the machine. */
  public record Memory(long before, long during, long after) {
    static final Memory UNKNOWN = new Memory(0, 0, 0);
  }

  /** Tokens a second of the only request; 0 where not measured. */
  public double alone() {
    return level(1).map(Level::perRequest).orElse(0.0);
  }

  /**
   * Whether the only request gets its floor, and any text at all.
   *
   * @param floor tokens a second, 0 for none
   */
  boolean keeps(double floor) {
    return level(1).filter(level -> level.tokens() > 0 && level.perRequest() >= floor).isPresent();
  }

  Optional<Level> level(int concurrency) {
    return levels.stream().filter(each -> each.concurrency() == concurrency).findFirst();
  }

  /** Speed of reading, as the dispatcher is to believe it: that of the longer prompt. */
  double prefillPerSecond() {
    return prefills.isEmpty() ? 0 : prefills.getLast().perSecond();
  }

  Map<Integer, Double> decodeByConcurrency() {
    Map<Integer, Double> decode = new LinkedHashMap<>();
    levels.forEach(each -> decode.put(each.concurrency(), each.perRequest()));
    return decode;
  }

  /**
   * Requests at once that keep the floor; all of them without a floor.
   *
   * @param floor tokens a second of each request, 0 for none
   * @param slots of the worker
   */
  int slotsThatKeep(double floor, int slots) {
    if (floor <= 0) {
      return slots;
    }
    int most = 1;
    for (Level level : levels) {
      if (level.perRequest() >= floor) {
        most = Math.max(most, level.concurrency());
      }
    }
    boolean allKept = levels.stream().allMatch(each -> each.perRequest() >= floor);
    return allKept ? slots : Math.min(most, slots);
  }

  /**
   * What share of its speed alone a request is left with, in between and beyond by the nearest
   * levels; 0 where none had text in its time.
   */
  double shareAt(int concurrency) {
    double alone = alone();
    if (alone <= 0 || concurrency <= 1) {
      return 1;
    }
    Level below = levels.getFirst();
    for (Level level : levels) {
      if (level.concurrency() >= concurrency) {
        double span = level.concurrency() - below.concurrency();
        double at = span == 0 ? 1 : (concurrency - below.concurrency()) / span;
        return (below.perRequest() + at * (level.perRequest() - below.perRequest())) / alone;
      }
      below = level;
    }
    // Beyond what was measured the whole is taken to be shared.
    return below.perRequest() / alone * below.concurrency() / concurrency;
  }

  /** What share of its speed behind a short prompt a request keeps behind one of that length. */
  double shareBehind(int promptTokens) {
    double alone = alone();
    Optional<Prefill> longest =
        prefills.stream().filter(each -> each.decodeAfter() > 0).reduce((_, last) -> last);
    if (alone <= 0 || longest.isEmpty() || longest.get().promptTokens() <= 0) {
      return 1;
    }
    double perToken =
        Math.max(0, 1 / longest.get().decodeAfter() - 1 / alone) / longest.get().promptTokens();
    return 1 / alone / (1 / alone + perToken * Math.max(0, promptTokens));
  }

  /** One line for people, such as {@code 94.1 tok/s alone, 61.0 each at 2}. */
  public String words() {
    List<String> parts = new ArrayList<>();
    for (Level level : levels) {
      parts.add(
          level.concurrency() == 1
              ? String.format(Locale.ROOT, "%.1f tok/s alone", level.perRequest())
              : String.format(
                  Locale.ROOT, "%.1f each at %d", level.perRequest(), level.concurrency()));
    }
    if (!prefills.isEmpty()) {
      parts.add(String.format(Locale.ROOT, "reads %.0f tok/s", prefillPerSecond()));
    }
    return String.join(", ", parts);
  }
}
