package dev.flotilla.bench.sweep;

import java.util.List;
import java.util.TreeSet;

/**
 * The concurrencies of a sweep.
 *
 * @param concurrencies rising, each once, at least one
 */
public record Levels(List<Integer> concurrencies) {
  /** The highest concurrency. */
  public static final int CONCURRENCY_MAX = 10_000;

  /** How many levels there are at most. */
  public static final int LEVELS_MAX = 32;

  /** What is swept where nobody says: doubling, to where small machines have long had enough. */
  public static final String DEFAULT = "1,2,4,8,16";

  public Levels {
    concurrencies = List.copyOf(new TreeSet<>(concurrencies));
  }

  /** Levels that can't be meant; the message is one sentence. */
  public static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String message) {
      super(message);
    }
  }

  /**
   * Reads whole numbers between commas.
   *
   * @throws Malformed where it holds anything else, or too much
   */
  public static Levels parse(String text) throws Malformed {
    TreeSet<Integer> levels = new TreeSet<>();
    for (String word : text.split(",", -1)) {
      levels.add(level(word.strip()));
    }
    if (levels.size() > LEVELS_MAX) {
      throw new Malformed("%d levels are more than %d".formatted(levels.size(), LEVELS_MAX));
    }
    return new Levels(List.copyOf(levels));
  }

  private static int level(String word) throws Malformed {
    try {
      int level = Integer.parseInt(word);
      if (level >= 1 && level <= CONCURRENCY_MAX) {
        return level;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a number out of range.
    }
    String shown =
        word.codePoints()
            .limit(20)
            .collect(
                StringBuilder::new,
                (said, point) -> said.appendCodePoint(Character.isISOControl(point) ? ' ' : point),
                StringBuilder::append)
            .toString();
    throw new Malformed(
        "'%s' is no concurrency; one is a whole number from 1 to %,d, as in %s"
            .formatted(shown, CONCURRENCY_MAX, DEFAULT));
  }

  public int highest() {
    return concurrencies.getLast();
  }
}
