package dev.flotilla.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LagHistogramTest {
  private final LagHistogram lags = new LagHistogram();

  @Test
  void anEmptyOneHasNoLag() {
    assertThat(lags.percentile(0.99)).isZero();
    assertThat(lags.max()).isZero();
  }

  @Test
  void aPercentileIsNeverBelowAndAtMostASixteenthAbove() {
    for (long lag = 1; lag <= 100_000; lag++) {
      lags.add(lag * 1_000);
    }
    for (double share : new double[] {0.01, 0.5, 0.9, 0.99, 1}) {
      long exact = (long) Math.ceil(share * 100_000) * 1_000;
      assertThat(lags.percentile(share)).isBetween(exact, exact + exact / 16);
    }
  }

  @Test
  void aWakeUpAheadOfTimeIsNoLag() {
    lags.add(-5);
    assertThat(lags.max()).isZero();
    assertThat(lags.percentile(1)).isZero();
  }

  @Test
  void theGreatestIsExact() {
    lags.add(Long.MAX_VALUE);
    lags.add(123_457);
    assertThat(lags.max()).isEqualTo(Long.MAX_VALUE);
    assertThat(lags.percentile(0.5)).isBetween(123_457L, 123_457L * 17 / 16);
  }
}
