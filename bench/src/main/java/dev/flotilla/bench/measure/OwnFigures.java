package dev.flotilla.bench.measure;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.RequestRecord.Kind;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the field's figures leave out.
 *
 * @param failures how many requests failed in which way; no zeros
 * @param countedBy who counted the output tokens of how many whole answers; no zeros
 * @param tokensPerChunk output tokens over chunks, of the whole answers; 0 where there were none
 * @param bundledRequests whole answers whose tokens and chunks differ by more than 5 %, among those
 *     whose tokens somebody counted
 * @param byToken the figures by tokens, where the server says how many each chunk held
 * @param fromSend latencies from when requests were sent, where that is later than when they were
 *     due by more than {@link Summary#LATENESS_MILLIS}
 * @param meanDecoding answers that were being generated at once, on average over the run
 * @param peakDecoding and at most
 * @param peakDecodingShare share of the run's time, 0 to 1, during which just that many were
 * @param meanOpen requests that were under way at once, on average over the run
 * @param silicon SiliconBench's figures
 * @param workers who answered; empty where no reply names a worker
 */
public record OwnFigures(
    Map<Kind, Integer> failures,
    Map<CountedBy, Integer> countedBy,
    double tokensPerChunk,
    int bundledRequests,
    Optional<ByToken> byToken,
    Optional<FromSend> fromSend,
    double meanDecoding,
    int peakDecoding,
    double peakDecodingShare,
    double meanOpen,
    SiliconFigures silicon,
    List<WorkerShare> workers) {

  public OwnFigures {
    failures = Map.copyOf(failures);
    countedBy = Map.copyOf(countedBy);
    workers = List.copyOf(workers);
  }

  /**
   * Figures by tokens and not by chunks.
   *
   * @param requests whole answers of which it is known how many tokens each chunk held; the others
   *     are not in these figures
   * @param itl milliseconds between tokens; a chunk of three tokens is three gaps, a third of the
   *     time before it each
   * @param peakOutputThroughput tokens in the best second
   */
  public record ByToken(int requests, Stats itl, double peakOutputThroughput) {}

  /**
   * Latencies as {@code vllm bench serve} has them: from when a request was sent. They leave out
   * the time that it waited for its turn, and so say less the slower the server is.
   *
   * @param ttft milliseconds
   * @param e2el milliseconds
   * @param lateness milliseconds from when requests were due to when they were sent
   */
  public record FromSend(Stats ttft, Stats e2el, Stats lateness) {}
}
