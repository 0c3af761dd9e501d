package dev.flotilla.engine.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class MemoryPlanTest {
  private static final long MIB = 1 << 20;
  private static final long BLOCK = MIB;
  private static final ProcessMemory PROCESS =
      new ProcessMemory(160 * MIB, 24 * MIB, 20 * MIB, 10 * MIB, MIB, 59 * MIB);

  @Test
  void theCacheGetsWhatAllSlotsCanHoldAndNoMore() throws StartRefused {
    MemoryPlan plan = plan(2000, 1024, 4);
    assertThat(plan.blocks()).as("4 requests of 64 blocks").isEqualTo(256);
    assertThat(plan.total()).isEqualTo((100 + 250 + 256) * MIB);
    assertThat(plan.lines())
        .anySatisfy(line -> assertThat(line).startsWith("budget").contains("2,000.0 MiB"))
        .anySatisfy(line -> assertThat(line).startsWith("- weights").contains("100.0 MiB"))
        .anySatisfy(line -> assertThat(line).startsWith("= left for cache").contains("1,650.0 MiB"))
        .anySatisfy(line ->
            assertThat(line)
                .contains(
                    "256 blocks of 1,048,576 bytes: 4,096 tokens, 4.0 requests of 1,024 tokens"))
        .anySatisfy(line -> assertThat(line).startsWith("will take").contains("606.0 MiB"));
  }

  @Test
  void whereNotAllSlotsFitAtFullLengthTheCacheGetsWhatIsLeft() throws StartRefused {
    MemoryPlan plan = plan(450, 1024, 4);
    assertThat(plan.blocks()).isEqualTo(100);
    assertThat(plan.total()).isEqualTo(450 * MIB);
    assertThat(String.join("\n", plan.lines())).contains("1.6 requests of 1,024 tokens");
  }

  @Test
  void aRefusalNamesTheLargestContextThatWouldFit() throws StartRefused {
    assertThatThrownBy(() -> plan(400, 1024, 4))
        .isInstanceOf(StartRefused.class)
        .hasMessageContaining("one request of 1,024 tokens 64.0 MiB, together 414.0 MiB")
        .hasMessageEndingWith("The largest context that fits is --context 800");
    assertThat(plan(400, 800, 4).blocks()).as("and it does fit").isEqualTo(50);
  }

  @Test
  void whereNothingUsefulFitsItNamesTheMemoryThatWouldDo() throws StartRefused {
    assertThatThrownBy(() -> plan(355, 1024, 4))
        .isInstanceOf(StartRefused.class)
        .hasMessageContaining("give it more with --memory 414M");
    assertThat(plan(414, 1024, 4).blocks()).isEqualTo(64);
  }

  @Test
  void aBudgetIsAPartOfWhatIsFree() {
    assertThat(Budget.ofFree(0.5, 1000 * MIB).bytes()).isEqualTo(500 * MIB);
    assertThat(Budget.ofFree(0.5, 1000 * MIB).words()).contains("0.50 of 1,000.0 MiB free");
  }

  private static MemoryPlan plan(long mebibytes, int context, int slots) throws StartRefused {
    return MemoryPlan.of(Budget.of(mebibytes * MIB), 100 * MIB, PROCESS, BLOCK, context, slots);
  }
}
