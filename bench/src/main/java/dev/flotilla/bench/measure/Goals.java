package dev.flotilla.bench.measure;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/**
 * What a request must keep to, to count as good (DistServe, arXiv 2401.09670, calls the rate of
 * those goodput). A goal that is absent holds nobody to anything.
 *
 * @param ttftMillis time to the first token at most
 * @param tpotMillis time per output token after the first at most; an answer of one token keeps it
 * @param e2elMillis time to the end of the answer at most
 */
public record Goals(
    OptionalDouble ttftMillis, OptionalDouble tpotMillis, OptionalDouble e2elMillis) {
  /** No goals. */
  public static final Goals NONE =
      new Goals(OptionalDouble.empty(), OptionalDouble.empty(), OptionalDouble.empty());

  /**
   * Reads goals as {@code vllm bench serve --goodput} takes them.
   *
   * @param pairs such as {@code ttft:200} and {@code tpot:50}, in milliseconds
   * @throws IllegalArgumentException with one sentence that names the pair
   */
  public static Goals parse(List<String> pairs) {
    Goals goals = NONE;
    for (String pair : pairs) {
      int colon = pair.indexOf(':');
      if (colon < 0) {
        throw new IllegalArgumentException(
            "goal '" + pair + "': write NAME:MILLISECONDS, such as ttft:200");
      }
      String name = pair.substring(0, colon).strip().toLowerCase(Locale.ROOT);
      goals = goals.with(name, OptionalDouble.of(millis(pair, pair.substring(colon + 1))), pair);
    }
    return goals;
  }

  private Goals with(String name, OptionalDouble millis, String pair) {
    OptionalDouble before =
        switch (name) {
          case "ttft" -> ttftMillis;
          case "tpot" -> tpotMillis;
          case "e2el" -> e2elMillis;
          default ->
              throw new IllegalArgumentException(
                  "goal '" + pair + "': there are goals for ttft, tpot and e2el");
        };
    if (before.isPresent()) {
      throw new IllegalArgumentException("goal '" + pair + "': " + name + " has a goal already");
    }
    return new Goals(
        name.equals("ttft") ? millis : ttftMillis,
        name.equals("tpot") ? millis : tpotMillis,
        name.equals("e2el") ? millis : e2elMillis);
  }

  private static double millis(String pair, String text) {
    double millis;
    try {
      millis = Double.parseDouble(text.strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "goal '" + pair + "': '" + text + "' is no number of milliseconds", e);
    }
    if (!(millis >= 0) || Double.isInfinite(millis)) {
      throw new IllegalArgumentException(
          "goal '" + pair + "': a goal is 0 milliseconds or more, and finite");
    }
    return millis;
  }

  /** Whether there is any goal. */
  public boolean any() {
    return ttftMillis.isPresent() || tpotMillis.isPresent() || e2elMillis.isPresent();
  }

  /** Whether a request with these times kept to all goals. */
  boolean met(double ttft, double tpot, double e2el) {
    return ttft <= ttftMillis.orElse(Double.POSITIVE_INFINITY)
        && tpot <= tpotMillis.orElse(Double.POSITIVE_INFINITY)
        && e2el <= e2elMillis.orElse(Double.POSITIVE_INFINITY);
  }
}
