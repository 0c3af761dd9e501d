package dev.flotilla.bench.measure;

import com.google.errorprone.annotations.FormatMethod;
import dev.flotilla.bench.measure.Finding.Kind;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What makes the numbers of a run mislead. Each guard stands for a trap in which a benchmark of the
 * field reports numbers as if nothing were amiss.
 */
public final class Guards {
  /** Share of failed requests from which the figures of the rest say little of the server. */
  public static final double FAILED_SHARE = 0.01;

  /** Share of this machine's processors from which the client may be what was measured. */
  public static final double CLIENT_CPU_SHARE = 0.5;

  /** How late the client may be at p99, to send or to read, before it counts as busy. */
  public static final double CLIENT_LATE_MILLIS = 20;

  /** How far two ways to the same figure may lie apart: SiliconBench's bounds. */
  public static final double CONTRADICTION_RATIO = 4;

  /**
   * Tokens a chunk from which the figures by chunks differ by half or more from those by tokens.
   */
  public static final double BUNDLED_RATIO = 1.5;

  /** Share of the greatest length below which answers count as short: SiliconBench's. */
  public static final double SHORT_SHARE = 0.1;

  /** Share of the time at the same number of answers at once that makes a plateau. */
  public static final double PLATEAU_SHARE = 0.5;

  /** How far a first run may lie outside of the later ones. */
  public static final double FIRST_RUN_SHARE = 0.1;

  private Guards() {}

  /** What a reader of one run's figures must know, the worst first. */
  public static List<Finding> findings(Run run, Summary summary, Conditions conditions) {
    List<Finding> findings = new ArrayList<>();
    partial(run).ifPresent(findings::add);
    if (summary.completed() == 0) {
      findings.add(nothingSucceeded(run, summary));
      return findings;
    }
    findings.addAll(failures(run, summary));
    usage(summary).ifPresent(findings::add);
    contradiction(summary).ifPresent(findings::add);
    bundled(summary).ifPresent(findings::add);
    shortAnswers(run).ifPresent(findings::add);
    beyondSlots(run, summary, conditions).ifPresent(findings::add);
    clientBusy(run).ifPresent(findings::add);
    findings.sort((a, b) -> Boolean.compare(b.misleads(), a.misleads()));
    return List.copyOf(findings);
  }

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

  /** Those findings of a result that SiliconBench warns of. */
  public static List<Finding> sanity(Result result) {
    return result.findings().stream()
        .filter(finding ->
            switch (finding.kind()) {
              case USAGE_MISSING, BUNDLED_CHUNKS, SHORT_ANSWERS, CONTRADICTION -> true;
              default -> false;
            })
        .toList();
  }

  private static Optional<Finding> partial(Run run) {
    return run.partial()
        ? Optional.of(
            new Finding(
                Kind.PARTIAL,
                true,
                format(
                    "The run was ended after %d of %d requests: these are the results so far.",
                    run.requests().stream().filter(r -> !cancelled(r)).count(),
                    run.load().prompts())))
        : Optional.empty();
  }

  private static Finding nothingSucceeded(Run run, Summary summary) {
    return new Finding(
        Kind.NOTHING_SUCCEEDED,
        true,
        run.requests().isEmpty()
            ? "No request was made: there are no figures, only zeros."
            : format(
                "None of %d requests succeeded (%s): there are no figures, only zeros. %s",
                summary.failed(), kinds(summary), firstMessage(run, k -> true)));
  }

  private static List<Finding> failures(Run run, Summary summary) {
    Map<RequestRecord.Kind, Integer> failures = summary.own().failures();
    int cancelled = failures.getOrDefault(RequestRecord.Kind.CANCELLED, 0);
    int failed = summary.failed() - (run.partial() ? cancelled : 0);
    if (failed == 0) {
      return List.of();
    }
    int made = summary.completed() + failed;
    boolean misleads = failed > FAILED_SHARE * made;
    List<Finding> findings = new ArrayList<>();
    findings.add(
        new Finding(
            Kind.SOME_FAILED,
            misleads,
            format(
                "%d of %d requests failed (%s): latencies are those of the others, and throughput"
                    + " leaves out the work that was for nothing. %s",
                failed, made, kinds(summary), firstMessage(run, k -> true))));
    inBand(run, failures, misleads).ifPresent(findings::add);
    int empty = failures.getOrDefault(RequestRecord.Kind.EMPTY, 0);
    if (empty > 0) {
      findings.add(
          new Finding(
              Kind.EMPTY_REPLIES,
              misleads,
              format(
                  "%s came whole, with status 200, and held no output: counted as failed.",
                  counted(empty, "reply", "replies"))));
    }
    return findings;
  }

  private static Optional<Finding> inBand(
      Run run, Map<RequestRecord.Kind, Integer> failures, boolean misleads) {
    int inBand = failures.getOrDefault(RequestRecord.Kind.IN_BAND, 0);
    return inBand == 0
        ? Optional.empty()
        : Optional.of(
            new Finding(
                Kind.IN_BAND_ERRORS,
                misleads,
                format(
                    "%s began with status 200 and then held an error: counted as failed. %s",
                    counted(inBand, "stream", "streams"),
                    firstMessage(run, k -> k == RequestRecord.Kind.IN_BAND))));
  }

  private static Optional<Finding> usage(Summary summary) {
    int chunks = summary.own().countedBy().getOrDefault(CountedBy.CHUNKS, 0);
    int tokenizer = summary.own().countedBy().getOrDefault(CountedBy.TOKENIZER, 0);
    if (chunks > 0) {
      return Optional.of(
          new Finding(
              Kind.USAGE_MISSING,
              chunks > FAILED_SHARE * summary.completed(),
              format(
                  "The server did not say how many tokens %d of %d answers have, nor could its"
                      + " tokenizer be asked: each chunk counts as one token, so token"
                      + " throughput and TPOT are guesses.",
                  chunks, summary.completed())));
    }
    return tokenizer == 0
        ? Optional.empty()
        : Optional.of(
            new Finding(
                Kind.USAGE_MISSING,
                false,
                format(
                    "The server did not say how many tokens %d of %d answers have: its tokenizer"
                        + " was asked for the text instead.",
                    tokenizer, summary.completed())));
  }

  /**
   * Tokens a second times the time between chunks is how many answers were generated at once; so is
   * the time that they took together over the run's. Where these two lie far apart, the times or
   * the counts of tokens are not what they seem.
   */
  private static Optional<Finding> contradiction(Summary summary) {
    double decoding = summary.own().meanDecoding();
    Stats gaps = summary.own().byToken().map(OwnFigures.ByToken::itl).orElse(summary.itl());
    double gap = gaps.mean() / 1000;
    double afterFirst =
        Summary.per(summary.totalOutputTokens() - summary.completed(), summary.durationSeconds());
    if (decoding <= 0 || gap <= 0 || afterFirst <= 0) {
      return Optional.empty();
    }
    double ratio = afterFirst * gap / decoding;
    if (ratio <= CONTRADICTION_RATIO && ratio >= 1 / CONTRADICTION_RATIO) {
      return Optional.empty();
    }
    return Optional.of(
        new Finding(
            Kind.CONTRADICTION,
            true,
            format(
                "Results contradict each other: %.1f tok/s with %.2f ms between them would be"
                    + " %.1f answers at once, but there were %.1f. The server counts tokens that"
                    + " did not come one by one (%.2f tokens a chunk).",
                afterFirst,
                gaps.mean(),
                afterFirst * gap,
                decoding,
                summary.own().tokensPerChunk())));
  }

  private static Optional<Finding> bundled(Summary summary) {
    int bundled = summary.own().bundledRequests();
    if (bundled == 0) {
      return Optional.empty();
    }
    double ratio = summary.own().tokensPerChunk();
    boolean far = ratio > BUNDLED_RATIO || ratio < 1 / BUNDLED_RATIO;
    Optional<OwnFigures.ByToken> byToken = summary.own().byToken();
    String instead =
        byToken
            .map(t ->
                format(
                    "By tokens, ITL is %.2f ms on average (of %d answers).",
                    t.itl().mean(), t.requests()))
            .orElse("The server does not say how many tokens each chunk held; TPOT is by tokens.");
    return Optional.of(
        new Finding(
            Kind.BUNDLED_CHUNKS,
            far && byToken.isEmpty(),
            format(
                "%d of %d answers have more or fewer tokens than chunks, by over 5 %% (%.2f tokens"
                    + " a chunk in all): ITL and peak throughput are by chunks. %s",
                bundled, summary.completed(), ratio, instead)));
  }

  private static Optional<Finding> shortAnswers(Run run) {
    List<RequestRecord> known =
        run.requests().stream().filter(r -> r.succeeded() && r.maxTokens() > 1).toList();
    double could = known.stream().mapToInt(RequestRecord::maxTokens).average().orElse(0);
    double had = known.stream().mapToInt(RequestRecord::outputTokens).average().orElse(0);
    if (could == 0 || had >= could * SHORT_SHARE) {
      return Optional.empty();
    }
    long stopped =
        known.stream()
            .filter(r ->
                r.finishReason().map(f -> f.equals("stop") || f.equals("tool_calls")).orElse(false))
            .count();
    return Optional.of(
        new Finding(
            Kind.SHORT_ANSWERS,
            stopped * 2 < known.size(),
            format(
                "Answers have %.1f tokens on average, under a tenth of the %.1f that they could"
                    + " have; %d of %d stopped by themselves.",
                had, could, stopped, known.size())));
  }

  private static Optional<Finding> beyondSlots(Run run, Summary summary, Conditions conditions) {
    int asked =
        run.load().maxConcurrency() > 0
            ? Math.min(run.load().maxConcurrency(), run.load().prompts())
            : summary.peakConcurrentRequests();
    if (conditions.slots().isPresent()) {
      int slots = conditions.slots().getAsInt();
      return asked <= slots
          ? Optional.empty()
          : Optional.of(
              new Finding(
                  Kind.BEYOND_SLOTS,
                  false,
                  format(
                      "Concurrency %d is more than the %d that the server works on at once (%s):"
                          + " up to %d requests wait, and TTFT holds their wait.",
                      asked, slots, conditions.slotsFrom(), asked - slots)));
    }
    int seen = summary.own().peakDecoding();
    boolean plateau =
        asked > seen
            && summary.own().peakDecodingShare() >= PLATEAU_SHARE
            && summary.own().meanOpen() > seen;
    return plateau
        ? Optional.of(
            new Finding(
                Kind.BEYOND_SLOTS,
                false,
                format(
                    "Concurrency %d seems more than the server works on at once: never more than %d"
                        + " answers were being generated, and just %d for %.0f %% of the time."
                        + " TTFT then holds the wait of the others.",
                    asked, seen, seen, 100 * summary.own().peakDecodingShare())))
        : Optional.empty();
  }

  private static Optional<Finding> clientBusy(Run run) {
    Generator generator = run.generator();
    double share = generator.busy(run.durationNanos());
    if (share > CLIENT_CPU_SHARE) {
      return Optional.of(
          new Finding(
              Kind.CLIENT_BUSY,
              true,
              format(
                  "The client itself used %.0f %% of its %d processors: the numbers may be its own."
                      + " Send less, or from another machine.",
                  100 * share, generator.cores())));
    }
    double late = Math.max(generator.sendP99Nanos(), generator.wakeP99Nanos()) / 1e6;
    return late <= CLIENT_LATE_MILLIS
        ? Optional.empty()
        : Optional.of(
            new Finding(
                Kind.CLIENT_BUSY,
                true,
                format(
                    "The client was %.0f ms late (p99) to send or to read, though nothing but this"
                        + " machine held it back: that much of the latencies may be its own.",
                    late)));
  }

  private static boolean cancelled(RequestRecord request) {
    return request.outcome() instanceof RequestRecord.Outcome.Failed failed
        && failed.kind() == RequestRecord.Kind.CANCELLED;
  }

  private static String kinds(Summary summary) {
    return new TreeMap<>(summary.own().failures())
        .entrySet().stream()
            .map(e -> e.getValue() + " " + words(e.getKey()))
            .collect(Collectors.joining(", "));
  }

  /** A kind of failure in words. */
  public static String words(RequestRecord.Kind kind) {
    return switch (kind) {
      case CONNECT -> "not connected";
      case TLS -> "without a trusted connection";
      case STATUS -> "answered with an error";
      case REFUSED -> "refused for now";
      case IN_BAND -> "with an error in the stream";
      case CUT -> "cut off";
      case MALFORMED -> "not understood";
      case EMPTY -> "empty";
      case TIMEOUT -> "out of time";
      case CANCELLED -> "cancelled";
    };
  }

  private static String firstMessage(Run run, Predicate<RequestRecord.Kind> which) {
    return run.requests().stream()
        .flatMap(r ->
            r.outcome() instanceof RequestRecord.Outcome.Failed failed && which.test(failed.kind())
                ? Stream.of("The first: " + failed.message())
                : Stream.empty())
        .findFirst()
        .orElse("");
  }

  private static String counted(int count, String one, String many) {
    return count + " " + (count == 1 ? one : many);
  }

  @FormatMethod
  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
