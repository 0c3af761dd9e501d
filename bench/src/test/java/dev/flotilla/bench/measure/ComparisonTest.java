package dev.flotilla.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What may be said of two measurements. */
final class ComparisonTest {

  @Test
  void theIntervalIsThatOfTheRankTest() {
    // Hollander and Wolfe's tables: for 5 and 5, the third smallest of 25 differences (P = 0.0159).
    assertThat(RankShift.order(4, 4)).isEqualTo(1);
    assertThat(RankShift.order(5, 5)).isEqualTo(3);
    assertThat(RankShift.order(8, 8)).isEqualTo(14);
    assertThat(RankShift.order(3, 3)).as("1 of 20 is more than 2.5 %").isZero();
  }

  @Test
  void theShiftIsTheMedianOfAllRatios() {
    RankShift shift =
        RankShift.between(new double[] {100, 101, 102, 103}, new double[] {112, 113, 114, 115})
            .orElseThrow();

    assertThat(shift.ratio()).isCloseTo(1.1182, within(1e-3));
    assertThat(shift.low()).isCloseTo(112.0 / 103, within(1e-9));
    assertThat(shift.high()).isCloseTo(115.0 / 100, within(1e-9));
    assertThat(shift.differs()).isTrue();
  }

  @Test
  void manyValuesAreComparedByTheNormalDistribution() {
    double[] first = IntStream.range(0, 3_000).mapToDouble(i -> 100 + i % 100).toArray();
    double[] second = IntStream.range(0, 3_000).mapToDouble(i -> 110 + i % 100).toArray();

    RankShift shift = RankShift.between(first, second).orElseThrow();

    assertThat(shift.differs()).isTrue();
    assertThat(shift.ratio()).isCloseTo(1.07, within(0.01));
  }

  @Test
  void repeatsShowADifference() {
    List<Result> before = results(50, 51, 52, 53, 54);
    List<Result> after = results(30, 31, 32, 33, 34);

    Comparison comparison = Comparison.of(before, after);

    assertThat(words(comparison, "median TTFT (ms)")).isEqualTo("faster by 38 % (95 %: 34 to 43)");
    assertThat(words(comparison, "output throughput (tok/s)"))
        .isEqualTo("faster by 16 % (95 %: 14 to 19)");
    assertThat(words(Comparison.of(after, before), "median TTFT (ms)"))
        .matches("slower by 6[23] % \\(95 %: 52 to 74\\)");
  }

  @Test
  void repeatsThatOverlapShowNone() {
    assertThat(
            words(
                Comparison.of(results(50, 60, 70, 80), results(55, 58, 73, 79)),
                "median TTFT (ms)"))
        .startsWith("no difference that these runs could show (95 %: ");
  }

  @Test
  void singleRunsAreComparedByTheirRequests() {
    Comparison comparison = Comparison.of(results(50), results(30));

    assertThat(words(comparison, "median TTFT (ms)"))
        .isEqualTo(
            "faster by 40 % (95 %: 40 to 40) between these two runs; 1 and 1 runs are too few to tell"
                + " the servers apart");
    assertThat(words(comparison, "output throughput (tok/s)"))
        .isEqualTo("1 and 1 runs are too few to tell; 4 on each side can");
  }

  @Test
  void aMeasurementBesideItselfIsTooLittleToTell() {
    List<Result> once = List.of(Runs.result(Runs.steady(2, 5, 50, 10)));
    List<Result> thrice = results(50, 51, 52);

    assertThat(Comparison.of(once, once).lines())
        .extracting(line -> line.verdict().words())
        .allSatisfy(words -> assertThat(words).startsWith("1 and 1 runs are too few to tell"));
    assertThat(words(Comparison.of(once, once), "median TTFT (ms)"))
        .isEqualTo(
            "1 and 1 runs are too few to tell; the requests of these two do not differ (95 %: +0 to"
                + " +0 %)");
    assertThat(Comparison.of(thrice, thrice).lines())
        .extracting(line -> line.verdict().words())
        .containsOnly("3 and 3 runs are too few to tell; 4 on each side can");
  }

  @Test
  void sweepsAreComparedWhereTheyMeet() {
    Sweep one = sweep(level(1), level(2), level(4));
    Sweep other = sweep(level(2), level(4), level(8));

    assertThat(Comparison.of(one, other))
        .extracting(Comparison.AtLevel::concurrency)
        .containsExactly(2, 4);
  }

  private static Level level(int concurrency) {
    return new Level(concurrency, results(50));
  }

  private static Sweep sweep(Level... levels) {
    return new Sweep(Runs.closed(0, 0), Instant.EPOCH, List.of(levels), List.of());
  }

  private static List<Result> results(long... ttfts) {
    return Arrays.stream(ttfts).mapToObj(ttft -> Runs.result(Runs.steady(2, 5, ttft, 10))).toList();
  }

  private static String words(Comparison comparison, String figure) {
    return comparison.lines().stream()
        .filter(line -> line.figure().equals(figure))
        .findFirst()
        .orElseThrow()
        .verdict()
        .words();
  }
}
