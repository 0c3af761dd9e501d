package dev.flotilla.bench.measure;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;

/**
 * The figures of one run, by the definitions of {@code vllm bench serve} ({@code
 * vllm/benchmarks/serve.py}), and ours beside them.
 *
 * <p>One thing differs on purpose: where a request was due before it was sent, its latencies count
 * from when it was due, so that a server which makes others wait does not look better for it; those
 * from the sending stand in {@link OwnFigures#fromSend()}. In a closed loop both are the same.
 *
 * @param completed requests whose answer came whole
 * @param failed the others, without those that the end of the run cut: what would have become of
 *     them nobody knows
 * @param durationSeconds of the whole run; all throughputs divide by it
 * @param totalInputTokens of the whole answers; those of which nobody knows count 0
 * @param totalOutputTokens of the whole answers
 * @param requestThroughput whole answers a second
 * @param requestGoodput those that kept to all goals, a second; absent without goals
 * @param outputThroughput output tokens a second
 * @param totalTokenThroughput input and output tokens a second
 * @param peakOutputThroughput chunks (not tokens) in the best second, counted in seconds since the
 *     first request was sent
 * @param peakConcurrentRequests requests with whole answers that were under way at once, at most
 * @param ttft milliseconds to the first chunk with output
 * @param tpot milliseconds for each token after the first, of answers with more than one
 * @param itl milliseconds between chunks (not tokens)
 * @param e2el milliseconds to the end of the reply
 * @param own what the field leaves out
 */
public record Summary(
    int completed,
    int failed,
    double durationSeconds,
    long totalInputTokens,
    long totalOutputTokens,
    double requestThroughput,
    OptionalDouble requestGoodput,
    double outputThroughput,
    double totalTokenThroughput,
    double peakOutputThroughput,
    int peakConcurrentRequests,
    Stats ttft,
    Stats tpot,
    Stats itl,
    Stats e2el,
    OwnFigures own) {
  /** Percentiles that are always taken: the field's default, and what a sweep's table shows. */
  public static final SortedSet<Double> PERCENTILES =
      Collections.unmodifiableSortedSet(new TreeSet<>(List.of(99.0)));

  /** How late the latest request is sent before both ways of counting are told. */
  public static final double LATENESS_MILLIS = 1;

  /** How far tokens and chunks may differ before an answer counts as bundled. */
  static final double BUNDLED = 0.05;

  /** The figures of a run without goals, with the field's default percentiles. */
  public static Summary of(Run run) {
    return of(run, Goals.NONE, PERCENTILES);
  }

  /**
   * The figures of a run.
   *
   * @param percents percentiles beside those that are always taken, 0 to 100
   */
  public static Summary of(Run run, Goals goals, SortedSet<Double> percents) {
    SortedSet<Double> taken = new TreeSet<>(PERCENTILES);
    taken.addAll(percents);
    List<Timing> whole =
        run.requests().stream().filter(RequestRecord::succeeded).map(Timing::new).toList();
    double seconds = run.durationNanos() / 1e9;
    long input = whole.stream().mapToLong(t -> Math.max(0, t.request().inputTokens())).sum();
    long output = whole.stream().mapToLong(t -> t.request().outputTokens()).sum();
    long good = whole.stream().filter(t -> goals.met(t.ttft(), t.tpot(), t.e2el())).count();
    Samples.Builder gaps = new Samples.Builder();
    whole.forEach(t -> t.chunkGaps(gaps));
    return new Summary(
        whole.size(),
        (int) run.requests().stream().filter(r -> !r.succeeded() && !r.cut()).count(),
        seconds,
        input,
        output,
        per(whole.size(), seconds),
        goals.any() ? OptionalDouble.of(per(good, seconds)) : OptionalDouble.empty(),
        per(output, seconds),
        per(input + output, seconds),
        Peaks.chunksInBestSecond(whole),
        Peaks.open(whole).most(),
        stats(whole, Timing::ttft, taken),
        stats(whole.stream().filter(Timing::hasTpot).toList(), Timing::tpot, taken),
        gaps.build().stats(taken),
        stats(whole, Timing::e2el, taken),
        own(run, whole, taken));
  }

  private static OwnFigures own(Run run, List<Timing> whole, SortedSet<Double> taken) {
    long chunks = whole.stream().mapToLong(t -> t.request().chunks().count()).sum();
    long tokens = whole.stream().mapToLong(t -> t.request().outputTokens()).sum();
    Peaks decoding = Peaks.decoding(whole);
    double seconds = run.durationNanos() / 1e9;
    return new OwnFigures(
        failures(run),
        countedBy(whole),
        chunks == 0 ? 0 : (double) tokens / chunks,
        (int) whole.stream().filter(Summary::bundled).count(),
        byToken(whole, taken),
        fromSend(whole, taken),
        per(decoding.nanosTogether() / 1e9, seconds),
        decoding.most(),
        per(decoding.nanosAtMost() / 1e9, seconds),
        per(Peaks.open(whole).nanosTogether() / 1e9, seconds),
        SiliconFigures.of(run),
        workers(run, whole, taken));
  }

  private static boolean bundled(Timing timing) {
    RequestRecord request = timing.request();
    int chunks = request.chunks().count();
    return request.countedBy() != CountedBy.CHUNKS
        && chunks > 0
        && Math.abs((double) request.outputTokens() / chunks - 1) > BUNDLED;
  }

  private static Optional<OwnFigures.ByToken> byToken(List<Timing> whole, SortedSet<Double> taken) {
    List<Timing> known = whole.stream().filter(Timing::tokensKnown).toList();
    if (known.isEmpty()) {
      return Optional.empty();
    }
    Samples.Builder gaps = new Samples.Builder();
    known.forEach(t -> t.tokenGaps(gaps));
    return Optional.of(
        new OwnFigures.ByToken(
            known.size(), gaps.build().stats(taken), Peaks.tokensInBestSecond(known)));
  }

  private static Optional<OwnFigures.FromSend> fromSend(
      List<Timing> whole, SortedSet<Double> taken) {
    Stats lateness = stats(whole, Timing::lateness, taken);
    return lateness.max() > LATENESS_MILLIS
        ? Optional.of(
            new OwnFigures.FromSend(
                stats(whole, Timing::ttftFromSend, taken),
                stats(whole, Timing::e2elFromSend, taken),
                lateness))
        : Optional.empty();
  }

  private static Map<Kind, Integer> failures(Run run) {
    Map<Kind, Integer> failures = new EnumMap<>(Kind.class);
    for (RequestRecord request : run.requests()) {
      if (request.outcome() instanceof Outcome.Failed failed) {
        failures.merge(failed.kind(), 1, Integer::sum);
      }
    }
    return failures;
  }

  private static Map<CountedBy, Integer> countedBy(List<Timing> whole) {
    Map<CountedBy, Integer> counted = new EnumMap<>(CountedBy.class);
    whole.forEach(t -> counted.merge(t.request().countedBy(), 1, Integer::sum));
    return counted;
  }

  private static List<WorkerShare> workers(Run run, List<Timing> whole, SortedSet<Double> taken) {
    if (run.requests().stream().noneMatch(r -> r.worker().isPresent())) {
      return List.of();
    }
    Map<String, Integer> failed = new TreeMap<>();
    for (RequestRecord request : run.requests()) {
      failed.merge(
          request.worker().orElse(WorkerShare.UNNAMED),
          request.succeeded() || request.cut() ? 0 : 1,
          Integer::sum);
    }
    return failed.entrySet().stream()
        .map(entry -> {
          List<Timing> theirs =
              whole.stream()
                  .filter(
                      t -> t.request().worker().orElse(WorkerShare.UNNAMED).equals(entry.getKey()))
                  .toList();
          long tokens = theirs.stream().mapToLong(t -> t.request().outputTokens()).sum();
          return new WorkerShare(
              entry.getKey(),
              theirs.size(),
              entry.getValue(),
              tokens,
              per(tokens, run.durationNanos() / 1e9),
              stats(theirs, Timing::ttft, taken),
              stats(theirs.stream().filter(Timing::hasTpot).toList(), Timing::tpot, taken),
              stats(theirs, Timing::e2el, taken));
        })
        .toList();
  }

  private static Stats stats(
      List<Timing> timings, ToDoubleFunction<Timing> figure, SortedSet<Double> taken) {
    return Samples.of(timings.stream().mapToDouble(figure).toArray()).stats(taken);
  }

  /** A rate; 0 where no time passed. Counts are far below what a double holds exactly. */
  static double per(long count, double time) {
    return per((double) count, time);
  }

  /** A rate; 0 where no time passed. */
  static double per(double count, double time) {
    return time > 0 ? count / time : 0;
  }
}
