package dev.flotilla.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.flotilla.bench.load.Arrivals.AtOnce;
import dev.flotilla.bench.load.Arrivals.Constant;
import dev.flotilla.bench.load.Arrivals.RampUp;
import dev.flotilla.bench.load.Arrivals.Recorded;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** When requests are due, by the definitions of {@code vllm bench serve}. */
class ArrivalsTest {
  private static final double SECOND = 1e9;

  @Test
  void allAtOnceIsNow() {
    assertThat(new AtOnce().dueNanos(3, random())).containsExactly(0, 0, 0);
  }

  @Test
  void anEvenPaceBeginsAfterItsFirstGap() {
    assertThat(new Constant(4, Double.POSITIVE_INFINITY).dueNanos(4, random()))
        .containsExactly(250_000_000, 500_000_000, 750_000_000, 1_000_000_000);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.2, 1, 5})
  void theLastIsDueExactlyAtRequestsByRate(double burstiness) {
    long[] due = new Constant(8, burstiness).dueNanos(40, random());

    assertThat(due[39]).isEqualTo((long) (5 * SECOND));
    assertThat(due).isSorted();
    assertThat(due[0]).isNotNegative();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.5, 1, 4})
  void gapsHaveTheMeanAndTheSpreadOfTheirGammaDistribution(double burstiness) {
    int requests = 40_000;
    double[] gaps = gaps(new Constant(2, burstiness).dueNanos(requests, random()));

    double mean = Arrays.stream(gaps).average().orElseThrow();
    double variance = Arrays.stream(gaps).map(g -> (g - mean) * (g - mean)).sum() / gaps.length;
    assertThat(mean).isCloseTo(0.5, within(1e-3));
    // Shape k, mean m: variance m²/k. Forty thousand draws know it to a few hundredths.
    assertThat(variance).isCloseTo(0.25 / burstiness, within(0.06 * 0.25 / burstiness));
  }

  @Test
  void burstsOfOneAreExponentialGaps() {
    double[] gaps = gaps(new Constant(1, 1).dueNanos(40_000, random()));

    // P(gap > t) = e^-t: the memoryless distribution, at three places.
    for (double t : new double[] {0.5, 1, 2}) {
      double beyond = Arrays.stream(gaps).filter(g -> g > t).count() / (double) gaps.length;
      assertThat(beyond).isCloseTo(Math.exp(-t), within(0.01));
    }
  }

  @Test
  void theSameSeedGivesTheSameTimes() {
    Arrivals arrivals = new Constant(3, 0.7);

    assertThat(arrivals.dueNanos(50, random())).isEqualTo(arrivals.dueNanos(50, random()));
  }

  @Test
  void aLinearRampGrowsByTheSameAmountFromRequestToRequest() {
    RampUp ramp = new RampUp(false, 2, 10, 1);

    assertThat(IntStream.range(0, 5).mapToDouble(i -> ramp.perSecond(i, 5)))
        .containsExactly(2.0, 4.0, 6.0, 8.0, 10.0);
    assertThat(ramp.perSecond(0, 1)).as("a single request").isEqualTo(2);
  }

  @Test
  void anExponentialRampGrowsByTheSameFactor() {
    RampUp ramp = new RampUp(true, 1, 16, 1);

    assertThat(IntStream.range(0, 5).mapToDouble(i -> ramp.perSecond(i, 5)))
        .usingElementComparator((a, b) -> Math.abs(a - b) < 1e-9 ? 0 : Double.compare(a, b))
        .containsExactly(1.0, 2.0, 4.0, 8.0, 16.0);
  }

  @Test
  void aRampIsNotStretched() {
    long[] due = new RampUp(false, 1, 4, Double.POSITIVE_INFINITY).dueNanos(4, random());

    assertThat(due)
        .containsExactly(
            (long) SECOND,
            (long) (1.5 * SECOND),
            Math.round((1.5 + 1.0 / 3) * SECOND),
            Math.round((1.75 + 1.0 / 3) * SECOND));
  }

  @Test
  void aReplayHasItsOwnTimes() {
    Recorded recorded = new Recorded(List.of(Duration.ZERO, Duration.ofMillis(7)));

    assertThat(recorded.dueNanos(2, random())).containsExactly(0, 7_000_000);
    assertThatThrownBy(() -> recorded.dueNanos(3, random()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Recorded(List.of(Duration.ofMillis(7), Duration.ZERO)))
        .hasMessage("recorded times fall at request 1");
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, Double.NaN, Double.POSITIVE_INFINITY})
  void aRateIsAboveZeroAndFinite(double rate) {
    assertThatThrownBy(() -> new Constant(rate, 1)).isInstanceOf(IllegalArgumentException.class);
  }

  private static double[] gaps(long[] due) {
    return IntStream.range(0, due.length)
        .mapToDouble(i -> (due[i] - (i == 0 ? 0 : due[i - 1])) / SECOND)
        .toArray();
  }

  private static SplittableRandom random() {
    return new SplittableRandom(42);
  }
}
