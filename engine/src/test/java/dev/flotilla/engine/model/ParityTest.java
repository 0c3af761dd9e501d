package dev.flotilla.engine.model;

import dev.flotilla.testkit.model.RandomBlocks;
import dev.flotilla.testkit.model.RandomModel;
import dev.flotilla.testkit.model.RandomModel.Family;
import dev.flotilla.testkit.real.GemmaModel;
import dev.flotilla.testkit.real.SmallModel;
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
 * <p>That holds where weights are floating-point numbers, and for small models of all types. It
 * does not hold for the quantised files of real models, where this engine is not that near to
 * itself: each product quantises its activations to eight bits, a number that falls on the other
 * side of a rounding edge moves all that follows, and after thirty layers nothing is left of the
 * edges that two computations had in common. The last bit of one norm's weights is enough ({@link
 * LastBit}). So these files have a limit of their own, and the one that says more: this engine is
 * hardly further from llama.cpp than from itself. docs/adding-an-architecture.md has the figures.
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
    isAsNearAsToItself(SmallModel.gguf(), 0.13, 1.2);
  }

  @Test
  void gemmaInFourBits() throws Exception {
    isAsNearAsToItself(GemmaModel.gguf(), 0.15, 2.5);
  }

  private void isAsNearAsToItself(Path file, double mean, double largest) throws Exception {
    Parity parity = Parity.of(file);
    parity.isWithin(4, mean, largest);
    parity.isHardlyFurtherThan(Parity.ofItself(file, LastBit.write(file, folder.resolve("bit"))));
  }

  /** Weights in blocks of 256, with which activations share a scale as widely. */
  @ParameterizedTest
  @EnumSource(
      value = RandomBlocks.class,
      names = {"Q3_K", "Q6_K", "IQ4_XS"})
  void typesWithWideBlocks(RandomBlocks type) throws Exception {
    Path file = RandomModel.small(Family.LLAMA_3, folder.resolve("wide.gguf"), 1, type);
    Parity.of(file).isWithin(0, 0.036, 0.3);
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
    Parity.of(file).isWithin(0, 0.03, 0.2);
  }
}
