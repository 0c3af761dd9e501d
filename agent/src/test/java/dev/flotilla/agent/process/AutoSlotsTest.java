package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class AutoSlotsTest {

  @Test
  void aNumberInTheRecipeIsTaken() {
    assertThat(AutoSlots.decided(worker(7), _ -> false).slots()).isEqualTo(7);
  }

  @Test
  void fourWhereMemoryHasRoom() {
    assertThat(AutoSlots.decided(worker(WorkerSpec.AUTO_SLOTS), _ -> true).slots()).isEqualTo(4);
  }

  @Test
  void fewerWhereMemorySaysSo() {
    assertThat(AutoSlots.decided(worker(WorkerSpec.AUTO_SLOTS), some -> some.slots() <= 2).slots())
        .isEqualTo(2);
  }

  @Test
  void oneWhereNotEvenThatFitsSoThatTheLaunchSaysWhatIsMissing() {
    assertThat(AutoSlots.decided(worker(WorkerSpec.AUTO_SLOTS), _ -> false).slots()).isEqualTo(1);
  }

  private static WorkerSpec worker(int slots) {
    return new WorkerSpec(
        "box/m-1",
        "m",
        "llama-server",
        "/m.gguf",
        4096,
        slots,
        Reasoning.INLINE,
        false,
        false,
        Map.of());
  }
}
