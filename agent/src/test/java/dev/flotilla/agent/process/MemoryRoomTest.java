package dev.flotilla.agent.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.wire.fleet.NodeFacts;
import dev.flotilla.wire.fleet.NodeFacts.Accelerator;
import dev.flotilla.wire.fleet.WorkerSpec;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Where a worker's memory is, on machines that the tests do not have. */
class MemoryRoomTest {
  private static final long GIB = 1L << 30;
  private static final Accelerator BIG = new Accelerator("nvidia", "big", 80 * GIB, 70 * GIB);
  private static final Accelerator SMALL = new Accelerator("nvidia", "small", 24 * GIB, 20 * GIB);

  @Test
  void vllmTakesTheProcessorWithTheMostFree() {
    assertThat(room("vllm", Map.of(), SMALL, BIG)).isEqualTo(new MemoryRoom(70 * GIB, true));
    assertThat(room("vllm", Map.of("tensor-parallel-size", "2"), SMALL, BIG))
        .isEqualTo(new MemoryRoom(90 * GIB, true));
    assertThat(room("vllm", Map.of("tensor_parallel_size", "2"), SMALL, BIG))
        .isEqualTo(new MemoryRoom(90 * GIB, true));
  }

  @Test
  void theMachinesOwnMemoryIsForAllElse() {
    MemoryRoom machine = new MemoryRoom(16 * GIB, false);
    assertThat(room("llama-server", Map.of(), BIG)).isEqualTo(machine);
    assertThat(room("mlx-lm", Map.of(), new Accelerator("apple", "M5", 0, -1))).isEqualTo(machine);
    assertThat(room("vllm", Map.of())).isEqualTo(machine);
    assertThat(room("vllm", Map.of(), new Accelerator("nvidia", "silent", 80 * GIB, -1)))
        .isEqualTo(machine);
  }

  @Test
  void whatAnEngineThatStartsWasGrantedOfAProcessorIsItsOwnUntilItIsReady() {
    MemoryClaims claims = new MemoryClaims(pid -> 0);
    MemoryRoom device = new MemoryRoom(20 * GIB, true);
    MemoryNeed need = new MemoryNeed(8 * GIB, 4 * GIB, GIB);
    assertThat(claims.shortage(need, device, 0.75)).isEmpty();

    claims.claim("node/a-1", 7, device, need);
    assertThat(claims.untouchedBytes(true)).isEqualTo(13 * GIB);
    assertThat(claims.untouchedBytes(false)).as("of the machine's own").isEqualTo(GIB);
    assertThat(claims.shortage(need, device, 0.75).orElseThrow())
        .contains("It needs 13.00 GiB", "others were granted 13.00 GiB more")
        .endsWith("(This is the memory of the graphics processor.)");

    claims.settle("node/a-1");
    assertThat(claims.untouchedBytes(true)).isZero();
  }

  private static MemoryRoom room(
      String engine, Map<String, String> args, Accelerator... accelerators) {
    NodeFacts facts =
        new NodeFacts(
            "h",
            "linux",
            "",
            "x86_64",
            false,
            "cpu",
            8,
            16,
            32 * GIB,
            16 * GIB,
            0,
            List.of(accelerators),
            List.of());
    WorkerSpec spec =
        new WorkerSpec(
            "n/m-1", "m", engine, "/m", 64, 1, WorkerSpec.Reasoning.INLINE, false, false, args);
    return MemoryRoom.of(spec, facts);
  }
}
