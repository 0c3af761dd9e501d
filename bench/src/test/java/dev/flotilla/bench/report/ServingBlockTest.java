package dev.flotilla.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.bench.measure.Conditions;
import dev.flotilla.bench.measure.Goals;
import dev.flotilla.bench.measure.Level;
import dev.flotilla.bench.measure.RequestRecord;
import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import dev.flotilla.bench.measure.Result;
import dev.flotilla.bench.measure.Runs;
import dev.flotilla.bench.measure.Sweep;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The block on the terminal, sign for sign. */
final class ServingBlockTest {

  @Test
  void theBlockIsTheFields() {
    Shown shown = Shown.parse("ttft,tpot,itl", "99,99.9");
    Result result =
        Result.of(
            Runs.steady(2, 5, 50, 10),
            Goals.parse(List.of("ttft:100")),
            shown.percents(),
            Conditions.UNKNOWN,
            Map.of());

    assertThat(ServingBlock.of(result, shown))
        .isEqualTo(
            """
            ============ Serving Benchmark Result ============
            Successful requests:                     10       \s
            Failed requests:                         0        \s
            Maximum request concurrency:             2        \s
            Benchmark duration (s):                  0.70     \s
            Total input tokens:                      320      \s
            Total generated tokens:                  100      \s
            Request throughput (req/s):              14.29    \s
            Request goodput (req/s):                 14.29    \s
            Output token throughput (tok/s):         142.86   \s
            Peak output token throughput (tok/s):    100.00   \s
            Peak concurrent requests:                2.00     \s
            Total token throughput (tok/s):          600.00   \s
            ---------------Time to First Token----------------
            Mean TTFT (ms):                          50.00    \s
            Median TTFT (ms):                        50.00    \s
            P99 TTFT (ms):                           50.00    \s
            P99.9 TTFT (ms):                         50.00    \s
            -----Time per Output Token (excl. 1st token)------
            Mean TPOT (ms):                          10.00    \s
            Median TPOT (ms):                        10.00    \s
            P99 TPOT (ms):                           10.00    \s
            P99.9 TPOT (ms):                         10.00    \s
            ---------------Inter-token Latency----------------
            Mean ITL (ms):                           10.00    \s
            Median ITL (ms):                         10.00    \s
            P99 ITL (ms):                            10.00    \s
            P99.9 ITL (ms):                          10.00    \s
            ==================================================
            """);
  }

  @Test
  void whatTheFieldLacksFollowsBelow() {
    String text = ServingBlock.of(Runs.result(Runs.trace()), Shown.DEFAULT);
    String below = text.substring(text.lastIndexOf("=".repeat(50)) + 51);

    assertThat(below)
        .contains("By tokens (1.71 a chunk):")
        .contains("Latencies above count from when requests were due. From their sending:")
        .contains("  Mean TTFT (ms):                        171.03")
        .contains("kitchen")
        .contains("WARNING: 2 of 9 requests failed (1 answered with an error, 1 with an error in");
    assertThat(text).contains("Request rate configured (RPS):           4.00");
  }

  @Test
  void answersOfOneTokenHaveNoTimeBetweenTokens() {
    RequestRecord one = Runs.request(0, 0, 50, 10, 1, 1, CountedBy.SERVER);
    RequestRecord named =
        new RequestRecord(
            0,
            one.prompt(),
            one.scheduledNanos(),
            one.sentNanos(),
            one.chunks(),
            one.endNanos(),
            32,
            1,
            CountedBy.SERVER,
            one.finishReason(),
            "a",
            Optional.of("kitchen/talk-1"),
            one.outcome());
    Result result = Runs.result(Runs.run(1, List.of(named)));

    assertThat(ServingBlock.of(result, Shown.DEFAULT))
        .containsPattern("(?m)^kitchen/talk-1 +1 +0 +20\\.0 +50\\.0 +50\\.0 +-$");
    assertThat(
            SweepTable.of(
                    new Sweep(
                        Runs.closed(1, 1),
                        Instant.EPOCH,
                        List.of(new Level(1, List.of(result))),
                        List.of()))
                .plain())
        .containsPattern("(?m)^1 .* 50\\.0 +50\\.0 +- +0$");
  }

  @Test
  void whatAServerSaysMovesNoCursor() {
    TextTable table = new TextTable("worker", "ok");
    table.row("a\u001b[2Jb\u202e", "1");

    assertThat(table.plain()).isEqualTo("worker   ok\na?[2Jb?   1\n");
    assertThat(table.markdown()).isEqualTo("| worker | ok |\n|---|---:|\n| a?[2Jb? | 1 |\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ttft,latency | 99    | metric 'latency': there are ttft, tpot, itl and e2el, such as ttft,tpot",
        "''           | 99    | metric '': there are ttft, tpot, itl and e2el, such as ttft,tpot",
        "ttft         | p99   | percentile 'p99': write numbers from 0 to 100, such as 50,99",
        "ttft         | 101   | percentile '101': write numbers from 0 to 100, such as 50,99",
        "ttft         | -1    | percentile '-1': write numbers from 0 to 100, such as 50,99",
      })
  void whatCantBeShownIsNamed(String metrics, String percentiles, String message) {
    assertThatThrownBy(() -> Shown.parse(metrics, percentiles)).hasMessage(message);
  }
}
