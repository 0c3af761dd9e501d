package dev.flotilla.bench.measure;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The concurrency beyond which latency is paid for that buys no throughput: the level with the
 * greatest power, throughput over latency (Kleinrock, "Power and deterministic rules of thumb for
 * probabilistic problems in computer communications", ICC 1979). Where a step up multiplies
 * throughput by more than it multiplies latency, power rises, and the knee lies further up.
 *
 * <p>Throughput is output tokens a second; latency is the median time to the end of the answer;
 * both are medians over a level's repeats. Of levels whose power is the same to 2 % the highest
 * concurrency is the knee: it costs nothing more.
 *
 * <p>A level whose repeats contradict each other is left out: its median may be anything. Where
 * such a level lies above all others, nobody knows where latency begins to cost, and there is no
 * knee.
 *
 * @param concurrency the knee
 * @param next the level after it; 0 where the knee is the last level, and so may lie beyond
 * @param latencyFactor what latency at the next level is, as a multiple of that at the knee
 * @param throughputFactor the same of throughput
 */
public record Knee(int concurrency, int next, double latencyFactor, double throughputFactor) {
  private static final double SAME = 0.98;

  /**
   * The knee of some levels by rising concurrency; absent where fewer than two of them have any
   * throughput, or where levels that might hold it contradict themselves.
   */
  public static Optional<Knee> of(List<Level> levels) {
    List<Level> working =
        levels.stream()
            .filter(level -> throughput(level) > 0 && latency(level) > 0)
            .filter(level -> level.contradiction().isEmpty())
            .toList();
    if (working.size() < 2) {
      return Optional.empty();
    }
    double best = working.stream().mapToDouble(Knee::power).max().orElseThrow();
    int knee = 0;
    for (int level = 0; level < working.size(); level++) {
      if (power(working.get(level)) >= best * SAME) {
        knee = level;
      }
    }
    Level at = working.get(knee);
    if (knee == working.size() - 1) {
      boolean unknownAbove =
          levels.stream()
              .anyMatch(level ->
                  level.concurrency() > at.concurrency() && level.contradiction().isPresent());
      if (unknownAbove) {
        return Optional.empty();
      }
      return Optional.of(new Knee(at.concurrency(), 0, 1, 1));
    }
    Level after = working.get(knee + 1);
    return Optional.of(
        new Knee(
            at.concurrency(),
            after.concurrency(),
            latency(after) / latency(at),
            throughput(after) / throughput(at)));
  }

  /** Such as {@code 8: beyond it you pay 2.1 × latency for 6 % more tok/s (at 16)}. */
  public String words() {
    if (next == 0) {
      return concurrency + ": the highest level that was measured is still worth it; go higher";
    }
    double percent = 100 * (throughputFactor - 1);
    String gain =
        Math.abs(percent) < 0.5
            ? "no more tok/s"
            : String.format(
                Locale.ROOT, "%.0f %% %s tok/s", Math.abs(percent), percent > 0 ? "more" : "fewer");
    return String.format(
        Locale.ROOT,
        "%d: beyond it you pay %.1f × latency for %s (at %d)",
        concurrency,
        latencyFactor,
        gain,
        next);
  }

  private static double power(Level level) {
    return throughput(level) / latency(level);
  }

  private static double throughput(Level level) {
    return level.spread(Summary::outputThroughput).median();
  }

  private static double latency(Level level) {
    return level.spread(summary -> summary.e2el().median()).median();
  }
}
