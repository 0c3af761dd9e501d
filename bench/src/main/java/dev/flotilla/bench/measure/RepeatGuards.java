package dev.flotilla.bench.measure;

import com.google.errorprone.annotations.FormatMethod;
import dev.flotilla.bench.measure.Finding.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What makes the figures of several runs of one measurement mislead, taken together. */
public final class RepeatGuards {
  /** How far a first run may lie outside of the later ones. */
  public static final double FIRST_RUN_SHARE = 0.1;

  /**
   * How many times the throughput of the slowest repeat the fastest one may have. Identical runs
   * differ by 15 to 30 % on a machine that does other things too; what differs by half is not the
   * same measurement.
   */
  public static final double CONTRADICT_RATIO = 1.5;

  /** From here on a median of the repeats is no figure of the server at all. */
  public static final double MISLEAD_RATIO = 3;

  private RepeatGuards() {}

  /**
   * Whether the first of several runs reads otherwise than the others: caches that were cold, a
   * model that was still loading, a processor that was still cool.
   *
   * @param first the first run, which whoever asks leaves out of the figures
   * @param later those that count
   */
  public static Optional<Finding> firstRun(Summary first, List<Summary> later) {
    if (later.isEmpty()) {
      return Optional.empty();
    }
    Samples rates = Samples.of(later.stream().mapToDouble(Summary::outputThroughput).toArray());
    double rate = first.outputThroughput();
    boolean low = rate < rates.min() && rate < rates.median() * (1 - FIRST_RUN_SHARE);
    boolean high = rate > rates.max() && rate > rates.median() * (1 + FIRST_RUN_SHARE);
    if (!(low || high) || rates.median() == 0) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            Kind.FIRST_RUN_DIFFERS,
            false,
            format(
                "The first run reads %s: %.1f tok/s against a median of %.1f in the %d after it"
                    + " (%.1f to %.1f). It is left out.",
                low ? "low" : "high",
                rate,
                rates.median(),
                later.size(),
                rates.min(),
                rates.max())));
  }

  /**
   * Whether repeats contradict each other, so that what is between them is no figure of the server.
   * A run that was ended before its end is no repeat, and one in which nothing succeeded says so
   * itself.
   *
   * @param runs the repeats that count
   */
  public static Optional<Finding> contradiction(List<Result> runs) {
    Samples rates =
        Samples.of(
            runs.stream()
                .filter(run -> !run.run().partial())
                .mapToDouble(run -> run.summary().outputThroughput())
                .filter(rate -> rate > 0)
                .toArray());
    if (rates.count() < 2 || rates.max() <= rates.min() * CONTRADICT_RATIO) {
      return Optional.empty();
    }
    double ratio = rates.max() / rates.min();
    boolean misleads = ratio > MISLEAD_RATIO;
    return Optional.of(
        new Finding(
            Kind.REPEATS_CONTRADICT,
            misleads,
            format(
                "%d runs of the same load contradict each other: from %.1f to %.1f tok/s, a factor"
                    + " of %.1f. Their median %s. Measure again on a machine that does nothing"
                    + " else, with more --repeats.",
                rates.count(),
                rates.min(),
                rates.max(),
                ratio,
                misleads ? "is no figure of the server" : "says little")));
  }

  @FormatMethod
  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
