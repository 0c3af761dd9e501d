package dev.flotilla.bench.measure;

import com.google.errorprone.annotations.FormatMethod;
import dev.flotilla.bench.measure.Finding.Kind;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.wire.text.Counted;
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

  /**
   * Share of the p99 of TTFT from which such a lateness misleads: below it the server's own times
   * are most of what stands there, and only the tail of the gaps between chunks is touched, which
   * is said. Medians and throughput do not mind single late readings.
   */
  public static final double CLIENT_LATE_SHARE = 0.25;

  private static final String QUIETER =
      "To make the client quieter, leave it a processor: end what else runs here, give an engine"
          + " on this machine fewer threads, or measure from another machine with --url.";

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
    clientBusy(run, summary).ifPresent(findings::add);
    findings.sort((a, b) -> Boolean.compare(b.misleads(), a.misleads()));
    return List.copyOf(findings);
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
    if (!run.partial()) {
      return Optional.empty();
    }
    int cut = (int) run.requests().stream().filter(RequestRecord::cut).count();
    return Optional.of(
        new Finding(
            Kind.PARTIAL,
            true,
            format(
                "The run was ended after %d of %s: these are the results so far.%s",
                run.requests().size() - cut,
                Counted.of(run.load().prompts(), "request"),
                cut == 0
                    ? ""
                    : " "
                        + Counted.of(cut, "request")
                        + " under way "
                        + (cut == 1 ? "was" : "were")
                        + " cut by that, and left out.")));
  }

  private static Finding nothingSucceeded(Run run, Summary summary) {
    return new Finding(
        Kind.NOTHING_SUCCEEDED,
        true,
        run.requests().isEmpty()
            ? "No request was made: there are no figures, only zeros."
            : summary.failed() == 0
                ? "No request came to its end: there are no figures, only zeros."
                : format(
                    "None of %s succeeded (%s): there are no figures, only zeros. %s",
                    Counted.of(summary.failed(), "request"),
                    kinds(summary),
                    firstMessage(run, k -> true)));
  }

  private static List<Finding> failures(Run run, Summary summary) {
    Map<RequestRecord.Kind, Integer> failures = summary.own().failures();
    int failed = summary.failed();
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
                "%d of %s failed (%s): latencies are those of the others, and throughput"
                    + " leaves out the work that was for nothing. %s",
                failed,
                Counted.of(made, "request"),
                kinds(summary),
                firstMessage(run, k -> true))));
    inBand(run, failures, misleads).ifPresent(findings::add);
    int empty = failures.getOrDefault(RequestRecord.Kind.EMPTY, 0);
    if (empty > 0) {
      findings.add(
          new Finding(
              Kind.EMPTY_REPLIES,
              misleads,
              format(
                  "%s came whole, with status 200, and held no output: counted as failed.",
                  Counted.of(empty, "reply", "replies"))));
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
                    Counted.of(inBand, "stream", "streams"),
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

  private static Optional<Finding> clientBusy(Run run, Summary summary) {
    Generator generator = run.generator();
    double share = generator.busy(run.durationNanos());
    if (share > CLIENT_CPU_SHARE) {
      return Optional.of(
          new Finding(
              Kind.CLIENT_BUSY,
              true,
              format(
                  "The client itself used %.0f %% of its %d processors: the numbers may be its own."
                      + " Send less at once. %s",
                  100 * share, generator.cores(), QUIETER)));
    }
    double late = Math.max(generator.sendP99Nanos(), generator.wakeP99Nanos()) / 1e6;
    if (late <= CLIENT_LATE_MILLIS) {
      return Optional.empty();
    }
    double ttft = summary.ttft().percentile(99);
    double itl = summary.itl().percentile(99);
    boolean misleads = late > ttft * CLIENT_LATE_SHARE;
    String gaps =
        summary.itl().measured() && late > itl * CLIENT_LATE_SHARE
            ? format(" Of P99 ITL, %.0f ms, it may be much.", itl)
            : "";
    return Optional.of(
        new Finding(
            Kind.CLIENT_BUSY,
            misleads,
            format(
                "The client was %.0f ms late (p99) to send or to read, though nothing but this"
                    + " machine held it back: %s%s %s",
                late,
                misleads
                    ? format("of P99 TTFT, %.0f ms, that much may be its own.", ttft)
                    : format("little beside P99 TTFT, %.0f ms.", ttft),
                gaps,
                QUIETER)));
  }

  private static String kinds(Summary summary) {
    return new TreeMap<>(summary.own().failures())
        .entrySet().stream()
            .filter(e -> e.getKey() != RequestRecord.Kind.CANCELLED)
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
            r.outcome() instanceof RequestRecord.Outcome.Failed failed
                    && !r.cut()
                    && which.test(failed.kind())
                ? Stream.of("The first: " + failed.message())
                : Stream.empty())
        .findFirst()
        .orElse("");
  }

  @FormatMethod
  private static String format(String format, Object... arguments) {
    return String.format(Locale.ROOT, format, arguments);
  }
}
