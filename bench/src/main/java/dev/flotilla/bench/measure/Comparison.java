package dev.flotilla.bench.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/**
 * Two measurements of the same load beside one another: what differs, and how sure that is.
 *
 * <p>Where both have enough repeats, their runs are compared ({@link RankShift}): that says
 * something of the servers. Single runs with their requests are compared by those: that says how
 * the two runs differed, and not whether the next two would; the words say so. Each line is at 95 %
 * by itself.
 *
 * @param lines one for each figure
 */
public record Comparison(List<Line> lines) {

  public Comparison {
    lines = List.copyOf(lines);
  }

  /**
   * One figure.
   *
   * @param figure such as {@code output throughput (tok/s)}
   * @param before the median of the first's runs
   * @param after the median of the second's
   */
  public record Line(String figure, double before, double after, Verdict verdict) {}

  /** What may be said. */
  public sealed interface Verdict {

    /** As people read it. */
    String words();

    /**
     * They differ.
     *
     * @param ratio second to first
     * @param higherIsFaster of a rate; not so of a latency
     * @param ofRequests whether only the requests of one run each were compared
     */
    record Differs(RankShift ratio, boolean higherIsFaster, boolean ofRequests) implements Verdict {
      @Override
      public String words() {
        boolean more = ratio.ratio() > 1;
        double low = percent(more ? ratio.low() : ratio.high());
        double high = percent(more ? ratio.high() : ratio.low());
        return String.format(
            Locale.ROOT,
            "%s by %.0f %% (95 %%: %.0f to %.0f)%s",
            more == higherIsFaster ? "faster" : "slower",
            percent(ratio.ratio()),
            low,
            high,
            ofRequests ? " between these two runs; " + tooFew(1, 1) + " the servers apart" : "");
      }

      private static double percent(double ratio) {
        return 100 * Math.abs(ratio - 1);
      }
    }

    /**
     * They may well be alike.
     *
     * @param ratio second to first, with 1 in its interval
     * @param ofRequests whether only the requests of one run each were compared
     */
    record Alike(RankShift ratio, boolean ofRequests) implements Verdict {
      @Override
      public String words() {
        return String.format(
            Locale.ROOT,
            ofRequests
                ? tooFew(1, 1)
                    + "; the requests of these two do not differ (95 %%: %+.0f to %+.0f %%)"
                : "no difference that these runs could show (95 %%: %+.0f to %+.0f %%)",
            100 * (ratio.low() - 1),
            100 * (ratio.high() - 1));
      }
    }

    /**
     * Nothing can be said.
     *
     * @param why as people read it
     */
    record Unknown(String why) implements Verdict {
      @Override
      public String words() {
        return why;
      }
    }
  }

  private static String tooFew(int before, int after) {
    return "%d and %d runs are too few to tell".formatted(before, after);
  }

  /** A figure that is compared. */
  private record Figure(
      String name,
      boolean higherIsFaster,
      ToDoubleFunction<Summary> ofRun,
      Optional<ToDoubleFunction<Timing>> ofRequest) {}

  private static final List<Figure> FIGURES =
      List.of(
          new Figure(
              "output throughput (tok/s)", true, Summary::outputThroughput, Optional.empty()),
          new Figure(
              "request throughput (req/s)", true, Summary::requestThroughput, Optional.empty()),
          new Figure("median TTFT (ms)", false, s -> s.ttft().median(), Optional.of(Timing::ttft)),
          new Figure("P99 TTFT (ms)", false, s -> s.ttft().percentile(99), Optional.empty()),
          new Figure("median TPOT (ms)", false, s -> s.tpot().median(), Optional.of(Timing::tpot)),
          new Figure("median E2EL (ms)", false, s -> s.e2el().median(), Optional.of(Timing::e2el)));

  /**
   * Compares runs.
   *
   * @param before one run, or repeats of it
   * @param after the same of what is compared with it
   * @throws IllegalArgumentException if either is empty
   */
  public static Comparison of(List<Result> before, List<Result> after) {
    if (before.isEmpty() || after.isEmpty()) {
      throw new IllegalArgumentException("a comparison needs runs on both sides");
    }
    return new Comparison(FIGURES.stream().map(figure -> line(figure, before, after)).toList());
  }

  /** A level that both sweeps have, compared. */
  public record AtLevel(int concurrency, Comparison comparison) {}

  /** Compares the levels that two sweeps share; none where they share none. */
  public static List<AtLevel> of(Sweep before, Sweep after) {
    List<AtLevel> levels = new ArrayList<>();
    for (Level level : before.levels()) {
      after.levels().stream()
          .filter(other -> other.concurrency() == level.concurrency())
          .forEach(other ->
              levels.add(new AtLevel(level.concurrency(), of(level.runs(), other.runs()))));
    }
    return levels;
  }

  private static Line line(Figure figure, List<Result> before, List<Result> after) {
    double[] first = values(figure, before);
    double[] second = values(figure, after);
    return new Line(
        figure.name(),
        Samples.of(first).median(),
        Samples.of(second).median(),
        verdict(figure, first, second, before, after));
  }

  private static Verdict verdict(
      Figure figure, double[] first, double[] second, List<Result> before, List<Result> after) {
    Optional<RankShift> ofRuns = RankShift.between(first, second);
    if (ofRuns.isPresent()) {
      return verdict(figure, ofRuns.get(), false);
    }
    if (before.size() == 1 && after.size() == 1 && figure.ofRequest().isPresent()) {
      Optional<RankShift> ofRequests =
          RankShift.between(
              requests(figure.ofRequest().get(), before.getFirst()),
              requests(figure.ofRequest().get(), after.getFirst()));
      if (ofRequests.isPresent()) {
        return verdict(figure, ofRequests.get(), true);
      }
    }
    if (RankShift.order(first.length, second.length) >= 1) {
      return new Verdict.Unknown("not measured in all runs");
    }
    return new Verdict.Unknown(tooFew(first.length, second.length) + "; 4 on each side can");
  }

  private static Verdict verdict(Figure figure, RankShift shift, boolean ofRequests) {
    return shift.differs()
        ? new Verdict.Differs(shift, figure.higherIsFaster(), ofRequests)
        : new Verdict.Alike(shift, ofRequests);
  }

  private static double[] values(Figure figure, List<Result> results) {
    return results.stream().mapToDouble(r -> figure.ofRun().applyAsDouble(r.summary())).toArray();
  }

  private static double[] requests(ToDoubleFunction<Timing> figure, Result result) {
    return result.run().requests().stream()
        .filter(RequestRecord::succeeded)
        .map(Timing::new)
        .filter(timing -> figure.applyAsDouble(timing) > 0)
        .mapToDouble(figure)
        .toArray();
  }
}
