package dev.flotilla.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.bench.measure.RequestRecord.CountedBy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Definitions on values that can be worked out by hand. */
final class DefinitionsTest {

  @Test
  void percentilesLieBetweenValuesAsNumpysDo() {
    Samples samples = Samples.of(40, 10, 30, 20);

    assertThat(samples.percentile(0)).isEqualTo(10);
    assertThat(samples.percentile(50)).isEqualTo(25);
    // Place 0.99 × 3 = 2.97: 0.97 of the way from 30 to 40.
    assertThat(samples.percentile(99)).isCloseTo(39.7, within(1e-9));
    assertThat(samples.percentile(100)).isEqualTo(40);
  }

  @Test
  void nearestRankTakesAValueThatIsThere() {
    Samples samples = Samples.of(40, 10, 30, 20);

    assertThat(samples.nearestRank(50)).isEqualTo(30);
    assertThat(samples.nearestRank(99)).isEqualTo(40);
    assertThat(samples.nearestRank(100)).isEqualTo(40);
  }

  @Test
  void nothingMeasuredIsZeroAsTheFieldPrintsIt() {
    Summary summary = Summary.of(Runs.run(1, List.of()));

    assertThat(summary.ttft()).isEqualTo(Samples.of().stats(Summary.PERCENTILES));
    assertThat(summary.ttft().percentile(99)).isZero();
    assertThat(summary.outputThroughput()).isZero();
    assertThat(summary.peakConcurrentRequests()).isZero();
  }

  @Test
  void aChunkOfThreeTokensIsThreeGapsOfAThird() {
    Chunks chunks = new Chunks();
    chunks.add(100_000_000, 2);
    chunks.add(130_000_000, 5);
    RequestRecord bundled = Runs.request(0, 0, 100, 30, 2, 5, CountedBy.SERVER);
    RequestRecord counted =
        new RequestRecord(
            0,
            bundled.prompt(),
            0,
            0,
            chunks,
            bundled.endNanos(),
            32,
            5,
            5,
            CountedBy.SERVER,
            bundled.finishReason(),
            "",
            bundled.worker(),
            bundled.outcome());

    Summary summary = Summary.of(Runs.run(1, List.of(counted)));

    assertThat(summary.itl().mean()).as("by chunks").isEqualTo(30);
    OwnFigures.ByToken byToken = summary.own().byToken().orElseThrow();
    assertThat(byToken.itl().count()).as("5 tokens have 4 gaps").isEqualTo(4);
    assertThat(byToken.itl().max()).isEqualTo(10);
    assertThat(byToken.itl().mean()).as("as TPOT").isEqualTo(summary.tpot().mean());
  }

  @Test
  void aServerThatCountsMoreThanWasAskedForIsNotBelieved() {
    Chunks chunks = new Chunks();
    chunks.add(10_000_000, 1);
    chunks.add(20_000_000, Integer.MAX_VALUE);
    RequestRecord asked = Runs.request(0, 0, 10, 10, 2, 2, CountedBy.SERVER);
    RequestRecord lied =
        new RequestRecord(
            0,
            asked.prompt(),
            0,
            0,
            chunks,
            asked.endNanos(),
            32,
            Integer.MAX_VALUE,
            8,
            CountedBy.SERVER,
            asked.finishReason(),
            "",
            asked.worker(),
            asked.outcome());

    Result result = Runs.result(Runs.run(1, List.of(lied)));

    assertThat(result.summary().own().byToken()).isEmpty();
    assertThat(result.findings()).extracting(Finding::kind).contains(Finding.Kind.CONTRADICTION);
  }

  @Test
  void anAnswerOfOneTokenHasNoTpotAndKeepsItsGoal() {
    RequestRecord single = Runs.request(0, 0, 100, 0, 1, 1, CountedBy.SERVER);

    Summary summary =
        Summary.of(
            Runs.run(1, List.of(single)), Goals.parse(List.of("tpot:0")), Summary.PERCENTILES);

    assertThat(summary.tpot().count()).isZero();
    assertThat(summary.requestGoodput()).hasValueCloseTo(10.0, within(1e-9));
  }

  @Test
  void aRequestThatEndsAsAnotherBeginsIsNotAtOnceWithIt() {
    Run run = Runs.run(1, List.of(Runs.request(0, 0, 10, 10), Runs.request(1, 100, 10, 10)));

    assertThat(Summary.of(run).peakConcurrentRequests()).isEqualTo(1);
  }

  @Test
  void aSpreadHasItsInterval() {
    Spread spread = Spread.of(List.of(10.0, 12.0, 14.0));

    assertThat(spread.median()).isEqualTo(12);
    // t(2) = 4.303, deviation 2, so 4.303 × 2 / √3.
    assertThat(spread.interval().orElseThrow().high()).isCloseTo(16.969, within(1e-3));
    assertThat(Spread.of(List.of(5.0)).interval()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "200         | goal '200': write NAME:MILLISECONDS, such as ttft:200",
        "itl:20      | goal 'itl:20': there are goals for ttft, tpot and e2el",
        "ttft:fast   | goal 'ttft:fast': 'fast' is no number of milliseconds",
        "ttft:-1     | goal 'ttft:-1': a goal is 0 milliseconds or more, and finite",
        "ttft:NaN    | goal 'ttft:NaN': a goal is 0 milliseconds or more, and finite",
      })
  void aGoalThatIsNoneIsNamed(String pair, String message) {
    assertThatThrownBy(() -> Goals.parse(List.of(pair))).hasMessage(message);
  }

  @Test
  void aGoalIsGivenOnce() {
    assertThatThrownBy(() -> Goals.parse(List.of("ttft:1", "ttft:2")))
        .hasMessage("goal 'ttft:2': ttft has a goal already");
  }
}
