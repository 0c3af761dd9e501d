package dev.flotilla.engine.model;

import dev.flotilla.testkit.GemmaModel;
import dev.flotilla.testkit.RandomBlocks;
import dev.flotilla.testkit.RandomModel;
import dev.flotilla.testkit.RandomModel.Family;
import dev.flotilla.testkit.SmallModel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * This engine says what llama.cpp says of the same file, as {@link Parity} measures it: the first
 * choice is the same, log-probabilities are within 0.1 nat on average and 0.5 at most.
 *
 * <p>That holds where weights are floating-point numbers, and by far: SmolLM2's weights in F32 are
 * 0.0018 nat apart on average and 0.020 at most, in F16 0.0032 and 0.032. It does not hold for the
 * quantised files of real models (SmolLM2 in Q4_1: 0.113 and 0.87; Gemma 3 in Q4_K_M: 0.128 and
 * 1.12), and no engine can make it hold but by repeating llama.cpp's additions bit for bit: all
 * quantise activations to eight bits before each product, and a number that falls on the other side
 * of a rounding edge, because a sum before it had another order, moves all that follows by a part
 * in 127. llama.cpp with flash attention is 0.116 nat on average and 0.81 at most from llama.cpp
 * without on the same SmolLM2 text; this engine with unquantised activations is 0.110 and 0.85 from
 * it, so what is between the two is llama.cpp's own rounding. The limits of those two tests are
 * this floor with a margin for other processors, on which llama.cpp adds in other orders.
 */
@Execution(ExecutionMode.CONCURRENT)
class ParityTest {
  @TempDir private Path folder;

  /** Real weights, without the noise of quantised activations. */
  @Test
  void llamaInHalfPrecision() throws Exception {
    Path file =
        FloatingPoint.write(SmallModel.gguf(), RandomBlocks.F16, folder.resolve("half.gguf"));
    Parity.of(file).isWithin(0, 0.01, 0.1);
  }

  @Test
  void llamaInFourBits() throws Exception {
    Parity.of(SmallModel.gguf()).isWithin(4, 0.13, 1.2);
  }

  @Test
  void gemmaInFourBits() throws Exception {
    Parity.of(GemmaModel.gguf()).isWithin(4, 0.15, 1.5);
  }

  @ParameterizedTest
  @EnumSource
  void everyArchitectureInHalfPrecision(Family family) throws Exception {
    Path file = RandomModel.small(family, folder.resolve("halves.gguf"), 1, RandomBlocks.F16);
    Parity.of(file).isWithin(0, 0.01, 0.1);
  }

  @ParameterizedTest
  @EnumSource
  void everyArchitectureInAllTypes(Family family) throws Exception {
    Path file = RandomModel.small(family, folder.resolve("all.gguf"), 1, RandomBlocks.values());
    Parity.of(file).isWithin(0, 0.05, 0.25);
  }
}
