package dev.flotilla.bench.arms;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.bench.arms.ArmsPlan.Step;
import java.util.List;
import org.junit.jupiter.api.Test;

/** In which order the arms run. */
final class ArmsPlanTest {
  @Test
  void eachRepeatBeginsWithAnotherArmAfterARoundThatDoesNotCount() {
    ArmsPlan plan = ArmsPlan.of(List.of(Arm.A, Arm.C, Arm.B), 3);
    assertThat(plan.steps())
        .extracting(Step::arm)
        .containsExactly(
            Arm.A, Arm.C, Arm.B, Arm.C, Arm.B, Arm.A, Arm.B, Arm.A, Arm.C, Arm.A, Arm.C, Arm.B);
    assertThat(plan.steps()).filteredOn(step -> !step.counts()).hasSize(3);
    assertThat(plan.steps()).extracting(Step::place).isSorted().doesNotHaveDuplicates();
  }
}
