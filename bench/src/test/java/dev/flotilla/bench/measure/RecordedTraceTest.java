package dev.flotilla.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The figures of a recorded trace, against values that numpy worked out of it. */
final class RecordedTraceTest {
  private static final Offset<Double> ROUNDING = within(1e-6);
  private static final SortedSet<Double> PERCENTS = new TreeSet<>(List.of(90.0, 99.0));

  private final JsonNode expected = Runs.json("trace-expected.json");
  private final Run run = Runs.trace();
  private final Summary summary =
      Summary.of(run, Goals.parse(List.of("ttft:200", "tpot:60", "e2el:1500")), PERCENTS);

  @Test
  void countsAndRatesAreTheFields() {
    assertThat(summary.completed()).isEqualTo(7);
    assertThat(summary.failed()).isEqualTo(2);
    same(summary.durationSeconds(), "duration");
    same((double) summary.totalInputTokens(), "total_input_tokens");
    same((double) summary.totalOutputTokens(), "total_output_tokens");
    same(summary.requestThroughput(), "request_throughput");
    same(summary.requestGoodput().orElseThrow(), "request_goodput");
    same(summary.outputThroughput(), "output_throughput");
    same(summary.totalTokenThroughput(), "total_token_throughput");
    same(summary.peakOutputThroughput(), "max_output_tokens_per_s");
    same((double) summary.peakConcurrentRequests(), "max_concurrent_requests");
  }

  @Test
  void latenciesCountFromWhenRequestsWereDue() {
    same(summary.ttft(), "ttft");
    same(summary.tpot(), "tpot");
    same(summary.itl(), "itl");
    same(summary.e2el(), "e2el");
  }

  @Test
  void latenciesFromTheSendingStandBesideThem() {
    OwnFigures.FromSend from = summary.own().fromSend().orElseThrow();

    same(from.ttft(), "from_send_ttft");
    same(from.e2el(), "from_send_e2el");
    same(from.lateness(), "lateness");
  }

  @Test
  void figuresByTokensAreOfTheAnswersWhoseTokensAreKnown() {
    OwnFigures.ByToken byToken = summary.own().byToken().orElseThrow();

    same((double) byToken.requests(), "by_token_requests");
    same(byToken.itl(), "by_token_itl");
    same(byToken.peakOutputThroughput(), "by_token_peak");
    same(summary.own().tokensPerChunk(), "tokens_per_chunk");
  }

  @Test
  void answersAtOnceAreCounted() {
    same(summary.own().meanDecoding(), "mean_decoding");
    same((double) summary.own().peakDecoding(), "peak_decoding");
  }

  @Test
  void siliconBenchsFiguresAreItsOwn() {
    JsonNode silicon = expected.path("silicon");
    SiliconFigures figures = summary.own().silicon();

    assertThat(figures.successful()).isEqualTo(silicon.path("successful").asInt());
    assertThat(figures.failed()).isEqualTo(silicon.path("failed").asInt());
    same(silicon, (double) figures.totalOutputTokens(), "total_output_tokens");
    same(silicon, figures.tokensPerChunk().orElseThrow(), "tokens_per_chunk");
    same(silicon, figures.ttftAvgMs(), "ttft_avg_ms");
    same(silicon, figures.ttftP50Ms(), "ttft_p50_ms");
    same(silicon, figures.ttftP99Ms(), "ttft_p99_ms");
    same(silicon, figures.throughputAvgTps(), "throughput_avg_tps");
    same(silicon, figures.throughputP50Tps(), "throughput_p50_tps");
    same(silicon, figures.itlAvgMs(), "itl_avg_ms");
    same(silicon, figures.itlP50Ms(), "itl_p50_ms");
    same(silicon, figures.latencyAvgSeconds(), "latency_avg_s");
    same(silicon, figures.latencyP50Seconds(), "latency_p50_s");
    same(silicon, figures.latencyP99Seconds(), "latency_p99_s");
    same(silicon, figures.outputThroughputTps(), "output_throughput_tps");
    assertThat(figures.errorSamples())
        .containsExactly(
            "answered with 1 chunks of at most 8 tokens, finish reason length",
            "500 from the engine",
            "the stream held an error: out of memory");
  }

  @Test
  void eachWorkerHasItsShare() {
    assertThat(summary.own().workers())
        .extracting(WorkerShare::worker, WorkerShare::completed, WorkerShare::failed)
        .containsExactly(tuple("(not said)", 0, 1), tuple("attic", 3, 1), tuple("kitchen", 4, 0));
    assertThat(summary.own().workers().stream().mapToLong(WorkerShare::outputTokens).sum())
        .isEqualTo(summary.totalOutputTokens());
  }

  private void same(Stats stats, String name) {
    JsonNode values = expected.path(name);
    assertThat(stats.count()).as(name).isEqualTo(values.path("count").asInt());
    same(values, stats.mean(), "mean");
    same(values, stats.median(), "median");
    same(values, stats.std(), "std");
    same(values, stats.percentile(90), "p90");
    same(values, stats.percentile(99), "p99");
  }

  private void same(double value, String name) {
    same(expected, value, name);
  }

  private static void same(JsonNode values, double value, String name) {
    assertThat(values.path(name).isNumber()).as(name).isTrue();
    assertThat(value).as(name).isCloseTo(values.path(name).asDouble(), ROUNDING);
  }
}
