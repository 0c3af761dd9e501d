package dev.flotilla.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Where more concurrency stops to pay. */
final class KneeTest {

  @Test
  void beyondTheKneeLatencyIsPaidForNothing() {
    // Twice the streams at the same pace, then twice the streams at half the pace.
    List<Level> levels = List.of(level(1, 10), level(2, 10), level(4, 10), level(8, 20));

    assertThat(Knee.of(levels).orElseThrow().words())
        .isEqualTo("4: beyond it you pay 1.6 × latency for 22 % more tok/s (at 8)");
  }

  @Test
  void whereTheLastLevelStillPaysTheKneeIsNotFound() {
    assertThat(Knee.of(List.of(level(1, 10), level(2, 10))).orElseThrow().words())
        .isEqualTo("2: the highest level that was measured is still worth it; go higher");
  }

  @Test
  void fewerTokensAreSaidAsThat() {
    assertThat(new Knee(8, 16, 2.14, 0.94).words())
        .isEqualTo("8: beyond it you pay 2.1 × latency for 6 % fewer tok/s (at 16)");
    assertThat(new Knee(8, 16, 2, 1.001).words())
        .isEqualTo("8: beyond it you pay 2.0 × latency for no more tok/s (at 16)");
  }

  @Test
  void oneLevelHasNoKnee() {
    assertThat(Knee.of(List.of(level(1, 10)))).isEmpty();
    assertThat(Knee.of(List.of())).isEmpty();
  }

  private static Level level(int concurrency, long stepMs) {
    List<Result> runs = new ArrayList<>();
    runs.add(Runs.result(Runs.steady(concurrency, 3, 50, stepMs)));
    return new Level(concurrency, runs);
  }
}
