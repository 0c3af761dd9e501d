package dev.flotilla.bench.sweep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.bench.sweep.SweepPlan.Step;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which runs a sweep makes. */
final class SweepPlanTest {
  @Test
  void theFirstRunDoesNotCountAndRepeatsGoUpAndDownInTurn() throws Exception {
    SweepPlan plan = SweepPlan.of(Levels.parse("4,1, 2,2"), 3, OptionalInt.empty());
    assertThat(plan.steps())
        .extracting(Step::concurrency)
        .containsExactly(1, 1, 2, 4, 4, 2, 1, 1, 2, 4);
    assertThat(plan.steps()).extracting(Step::repeat).containsExactly(0, 1, 1, 1, 2, 2, 2, 3, 3, 3);
    assertThat(plan.steps()).extracting(Step::place).isSorted().doesNotHaveDuplicates();
    assertThat(plan.steps()).filteredOn(Step::counts).hasSize(9);
  }

  @Test
  void aLevelIsFilledTwiceUnlessSomebodySaysHowManyRequestsItHas() throws Exception {
    Levels levels = Levels.parse("1,64");
    assertThat(SweepPlan.of(levels, 1, OptionalInt.empty()).steps())
        .extracting(Step::requests)
        .isEqualTo(List.of(16, 16, 128));
    assertThat(SweepPlan.of(levels, 1, OptionalInt.of(100)).requestsMax()).isEqualTo(100);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "1000000", "", "1,,2", "x", "1.5", "2147483648", "1;2"})
  void aLevelThatIsNoneIsRefusedInOneLine(String text) {
    assertThatThrownBy(() -> Levels.parse(text))
        .isInstanceOf(Levels.Malformed.class)
        .hasMessageContaining("is no concurrency; one is a whole number from 1 to 10,000")
        .hasMessageNotContaining("\n");
  }

  @Test
  void thereAreAtMost32Levels() {
    String many =
        "1"
            + ",2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33";
    assertThatThrownBy(() -> Levels.parse(many)).hasMessage("33 levels are more than 32");
  }
}
