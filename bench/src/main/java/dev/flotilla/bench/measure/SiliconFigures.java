package dev.flotilla.bench.measure;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Outcome;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * The figures of one run by the definitions of SiliconBench ({@code scripts/benchmark.py}):
 * percentiles of nearest rank, rates of decoding weighted by tokens, latencies from the sending.
 *
 * <p>Which answers count as failed is SiliconBench's rule too: besides the errors, answers that may
 * have more than one token and have none, or at most one chunk without having stopped by
 * themselves. A call of a tool is output here, and {@code tool_calls} is a stop; SiliconBench sees
 * only text and counts such answers as failed.
 *
 * @param numRequests requests that were made
 * @param totalChunks chunks of all successful answers
 * @param totalOutputTokens the server's count; chunks where it is missing for any answer
 * @param totalInputTokens the server's count; absent where it is missing for any answer
 * @param serverUsage whether the server counted the tokens of every answer
 * @param tokensPerChunk output tokens over chunks; absent without chunks
 * @param throughputAvgTps tokens after the first, over the time from first to last chunk, each
 *     summed over all answers
 * @param throughputP50Tps of the answers' own rates: tokens after the first, over the time from the
 *     first chunk to the end
 * @param itlAvgMs what {@code throughputAvgTps} is the inverse of
 * @param itlP50Ms of the answers' own means: time from first to last chunk, over the tokens after
 *     the first
 * @param wallSeconds of the whole run
 */
public record SiliconFigures(
    int numRequests,
    int successful,
    int failed,
    long totalChunks,
    long totalOutputTokens,
    OptionalLong totalInputTokens,
    boolean serverUsage,
    OptionalDouble tokensPerChunk,
    double ttftAvgMs,
    double ttftP50Ms,
    double ttftP99Ms,
    double throughputAvgTps,
    double throughputP50Tps,
    double itlAvgMs,
    double itlP50Ms,
    double latencyAvgSeconds,
    double latencyP50Seconds,
    double latencyP99Seconds,
    double outputThroughputTps,
    OptionalDouble inputThroughputTps,
    OptionalDouble totalTokenThroughputTps,
    double wallSeconds,
    List<String> errorSamples) {
  private static final int ERROR_SAMPLES = 5;

  public SiliconFigures {
    errorSamples = List.copyOf(errorSamples);
  }

  /** The figures of a run. */
  public static SiliconFigures of(Run run) {
    // What the end of the run cut neither succeeded nor failed.
    List<RequestRecord> ended = run.requests().stream().filter(r -> !r.cut()).toList();
    List<Timing> good =
        ended.stream().filter(r -> r.succeeded() && !silentlyFailed(r)).map(Timing::new).toList();
    double wall = run.durationNanos() / 1e9;
    boolean usage = good.stream().allMatch(t -> t.request().countedBy() == CountedBy.SERVER);
    boolean input = good.stream().allMatch(t -> t.request().inputTokens() >= 0);
    long chunks = sum(good, t -> t.request().chunks().count());
    long output = usage ? sum(good, t -> t.request().outputTokens()) : chunks;
    OptionalLong inputs =
        input ? OptionalLong.of(sum(good, t -> t.request().inputTokens())) : OptionalLong.empty();
    List<Timing> spanned = good.stream().filter(t -> t.request().chunks().count() > 1).toList();
    double span = spanned.stream().mapToDouble(SiliconFigures::span).sum();
    long decoded = sum(spanned, t -> Math.max(0, t.request().outputTokens() - 1));
    Samples ttft = samples(good, Timing::ttftFromSend);
    Samples latency = samples(good, t -> t.e2elFromSend() / 1000);
    Samples itl =
        samples(spanned.stream().filter(t -> ownItl(t) > 0).toList(), SiliconFigures::ownItl);
    return new SiliconFigures(
        ended.size(),
        good.size(),
        ended.size() - good.size(),
        chunks,
        output,
        inputs,
        usage,
        chunks == 0 ? OptionalDouble.empty() : OptionalDouble.of((double) output / chunks),
        ttft.mean(),
        ttft.nearestRank(50),
        ttft.nearestRank(99),
        Summary.per(decoded, span),
        samples(good, SiliconFigures::ownRate).nearestRank(50),
        decoded == 0 ? 0 : span / decoded * 1000,
        itl.nearestRank(50),
        latency.mean(),
        latency.nearestRank(50),
        latency.nearestRank(99),
        Summary.per(output, wall),
        inputs.isPresent()
            ? OptionalDouble.of(Summary.per(inputs.getAsLong(), wall))
            : OptionalDouble.empty(),
        inputs.isPresent()
            ? OptionalDouble.of(Summary.per(inputs.getAsLong() + output, wall))
            : OptionalDouble.empty(),
        wall,
        errors(run));
  }

  private static boolean silentlyFailed(RequestRecord request) {
    int chunks = request.chunks().count();
    boolean stopped =
        request.finishReason().map(r -> r.equals("stop") || r.equals("tool_calls")).orElse(true);
    return request.maxTokens() > 1 && (chunks == 0 || (chunks <= 1 && !stopped));
  }

  private static List<String> errors(Run run) {
    return run.requests().stream()
        .filter(r -> !r.cut() && (!r.succeeded() || silentlyFailed(r)))
        .map(r ->
            r.outcome() instanceof Outcome.Failed failed
                ? failed.message()
                : "answered with "
                    + r.chunks().count()
                    + " chunks of at most "
                    + r.maxTokens()
                    + " tokens, finish reason "
                    + r.finishReason().orElse("none"))
        .distinct()
        .limit(ERROR_SAMPLES)
        .toList();
  }

  /** Seconds from the first chunk to the last. */
  private static double span(Timing timing) {
    Chunks chunks = timing.request().chunks();
    return (chunks.nanos(chunks.count() - 1) - chunks.nanos(0)) / 1e9;
  }

  private static double ownItl(Timing timing) {
    int tokens = timing.request().outputTokens();
    return tokens > 1 ? span(timing) * 1000 / (tokens - 1) : 0;
  }

  private static double ownRate(Timing timing) {
    double seconds = (timing.request().endNanos() - timing.firstNanos()) / 1e9;
    int tokens = timing.request().outputTokens();
    return tokens > 1 ? Summary.per(tokens - 1, seconds) : 0;
  }

  private static Samples samples(List<Timing> timings, ToDoubleFunction<Timing> figure) {
    return Samples.of(timings.stream().mapToDouble(figure).toArray());
  }

  private static long sum(List<Timing> timings, ToLongFunction<Timing> figure) {
    return timings.stream().mapToLong(figure).sum();
  }
}
