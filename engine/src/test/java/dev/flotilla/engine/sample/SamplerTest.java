package dev.flotilla.engine.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SamplerTest {
  private static final int[] NOTHING = {0};

  /** Probabilities of one half, a quarter, an eighth, and so on. */
  private static final float[] HALVES = {-1, -2, -3, -4, -5, -6, -7, -7};

  private final Sampler sampler = new Sampler(HALVES.length);

  @Test
  void withoutTemperatureTheLikeliestIsTakenAndOfEqualsTheFirst() {
    assertThat(one(new float[] {1, 3, 3, 2, 0, 0, 0, 0}, Sampling.GREEDY)).isEqualTo(1);
  }

  @Test
  void drawsHaveTheModelsProbabilities() {
    double[] shares = shares(with(1, 0, 1, 0));
    assertThat(shares[0]).isCloseTo(0.5, within(0.02));
    assertThat(shares[1]).isCloseTo(0.25, within(0.02));
    assertThat(shares[7]).isCloseTo(1 / 128.0, within(0.005));
  }

  @Test
  void temperatureFlattens() {
    double[] shares = shares(with(2, 0, 1, 0));
    assertThat(shares[0] / shares[2]).isCloseTo(2, within(0.2));
  }

  @Test
  void topKTopPAndMinPLeaveTheLikeliest() {
    assertThat(shares(with(1, 2, 1, 0))).containsExactly(of(2.0 / 3, 1.0 / 3), within(0.02));
    assertThat(shares(with(1, 0, 0.75, 0))).containsExactly(of(2.0 / 3, 1.0 / 3), within(0.02));
    assertThat(shares(with(1, 0, 0.76, 0)))
        .containsExactly(of(4.0 / 7, 2.0 / 7, 1.0 / 7), within(0.02));
    assertThat(shares(with(1, 0, 1, 0.4))).containsExactly(of(2.0 / 3, 1.0 / 3), within(0.02));
    assertThat(shares(with(1, 3, 0.5, 0))).containsExactly(of(1), within(0.001));
    assertThat(shares(with(1, 0, 1e-9, 0))).containsExactly(of(1), within(0.001));
    assertThat(shares(with(1, 5, 1, 0.4))).containsExactly(of(2.0 / 3, 1.0 / 3), within(0.02));
  }

  @Test
  void whatIsForbiddenIsNeverDrawn() {
    for (Sampling how : new Sampling[] {with(1, 0, 1, 0), with(3, 4, 1, 0), with(3, 0, 0.9, 0)}) {
      for (int seed = 0; seed < 3_000; seed++) {
        float[] row = logits(HALVES);
        Sampler.forbid(row, new int[] {0, 3});
        Sampler.mask(row, new long[] {0b0111_1111});
        assertThat(sampler.next(row, seeded(how, seed), NOTHING, 1, 1)).isIn(1, 2, 4, 5, 6);
      }
    }
  }

  @Test
  void aRowThatLeavesNothingSaysSo() {
    float[] row = logits(HALVES);
    Sampler.mask(row, new long[] {0});
    assertThat(sampler.next(row, with(1, 3, 0.5, 0), NOTHING, 1, 1)).isEqualTo(Sampler.NONE);
    float[] broken = {Float.NaN, Float.NaN, Float.NaN, Float.NaN, Float.NaN, 1, Float.NaN, 0};
    assertThat(one(broken, with(1, 2, 1, 0))).isIn(5, 7);
    assertThat(one(broken, with(1, 0, 0.9, 0))).isIn(5, 7);
    assertThat(one(broken, Sampling.GREEDY)).isEqualTo(5);
  }

  @Test
  void penaltiesAndBiasMoveLogits() {
    int[] tokens = {1, 2, 3, 3, 4};
    float[] row = {2, 2, -2, 2, 2, 2, 2, 2};
    Sampling how = new Sampling(0, 0, 1, 0, 2, 0.5, 0.25, new Bias(Map.of(7, 3f)), 0);
    assertThat(sampler.next(row, how, tokens, 1, 5)).isEqualTo(7);
    assertThat(row[1]).as("of the prompt: repetition alone").isEqualTo(1);
    assertThat(row[2]).as("negative, once in the answer").isEqualTo(-4.75f);
    assertThat(row[3]).as("twice in the answer").isEqualTo(0);
    assertThat(row[0]).isEqualTo(2);
    assertThat(row[7]).isEqualTo(5);
    float[] again = {2, 2, 2, 2, 2, 2, 2, 2};
    sampler.next(again, how, tokens, 2, 2);
    assertThat(again[3]).as("counts of one row don't reach the next").isEqualTo(2);
  }

  @Test
  void drawsAreWithinTheirBounds() {
    for (int place = 0; place < 100_000; place++) {
      assertThat(Sampler.uniform(place * 31L, place)).isBetween(0.0, Math.nextDown(1.0));
    }
  }

  @Test
  void valuesOutOfRangeAreNamed() {
    assertThatThrownBy(() -> with(-1, 0, 1, 0))
        .hasMessage("temperature must be from 0 to 100, not -1");
    assertThatThrownBy(() -> with(Double.NaN, 0, 1, 0)).hasMessageContaining("not NaN");
    assertThatThrownBy(() -> with(1, -1, 1, 0)).hasMessage("top_k must be from 0, not -1");
    assertThatThrownBy(() -> with(1, 0, 0, 0)).hasMessage("top_p must be over 0 to 1, not 0");
    assertThatThrownBy(() -> with(1, 0, 1, 1.5)).hasMessageContaining("min_p must be from 0 to 1");
  }

  private double[] shares(Sampling how) {
    int draws = 8_000;
    double[] shares = new double[HALVES.length];
    for (int seed = 0; seed < draws; seed++) {
      shares[one(logits(HALVES), seeded(how, seed * 7919L))] += 1.0 / draws;
    }
    return shares;
  }

  private int one(float[] row, Sampling how) {
    return sampler.next(row.clone(), how, NOTHING, 1, 1);
  }

  private static float[] logits(float[] powersOfTwo) {
    float[] row = new float[powersOfTwo.length];
    for (int i = 0; i < row.length; i++) {
      row[i] = (float) (powersOfTwo[i] * Math.log(2));
    }
    return row;
  }

  private static double[] of(double... first) {
    double[] all = new double[HALVES.length];
    System.arraycopy(first, 0, all, 0, first.length);
    return all;
  }

  private static Sampling with(double temperature, int topK, double topP, double minP) {
    return new Sampling(temperature, topK, topP, minP, 1, 0, 0, Bias.NONE, 0);
  }

  private static Sampling seeded(Sampling how, long seed) {
    return new Sampling(
        how.temperature(), how.topK(), how.topP(), how.minP(), 1, 0, 0, Bias.NONE, seed);
  }
}
