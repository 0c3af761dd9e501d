package dev.flotilla.engine.model;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.engine.Engine;
import dev.flotilla.engine.Generation;
import dev.flotilla.engine.GenerationRequest;
import dev.flotilla.engine.Pooling;
import dev.flotilla.engine.Wakeup;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.schedule.ScheduleLimits;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.testkit.model.RandomBlocks;
import dev.flotilla.testkit.real.SmallModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Vectors of texts have the direction that llama-server's have. */
@Execution(ExecutionMode.CONCURRENT)
class VectorParityTest {
  private static final List<String> TEXTS =
      List.of(
          "Hello",
          "The capital of France is Paris.",
          "人人生而自由，在尊严和权利上一律平等",
          "def fibonacci(n):\n    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)\n",
          "Water boils at a temperature of a hundred degrees. ".repeat(30));

  @TempDir private Path folder;

  /** Without the noise of quantised activations the two differ in their roundings alone. */
  @ParameterizedTest
  @EnumSource(names = {"MEAN", "LAST"})
  void inHalfPrecision(Pooling pooling) throws Exception {
    Path file =
        FloatingPoint.write(SmallModel.gguf(), RandomBlocks.F16, folder.resolve("half.gguf"));
    assertThat(worstCosine(file, pooling)).isGreaterThan(0.99999);
  }

  /**
   * Both quantise activations to eight bits before each product, and a number that falls on the
   * other side of a rounding edge moves what follows (see {@link ParityTest}); the mean of many
   * tokens hides some of it.
   */
  @Test
  void inFourBits() throws Exception {
    assertThat(worstCosine(SmallModel.gguf(), Pooling.MEAN)).isGreaterThan(0.999);
  }

  private static double worstCosine(Path file, Pooling pooling) throws Exception {
    String word = pooling.name().toLowerCase(Locale.ROOT);
    double worst = 1;
    try (LlamaReference reference = new LlamaReference(file, "--embeddings", "--pooling", word);
        Workers workers = new Workers(1);
        LoadedModel model = LoadedModel.load(ModelOutline.of(GgufHeader.read(file)), workers);
        Transformer runner = new Transformer(model, KvType.F16, 40, 64, workers);
        Engine engine = new Engine(runner, new ScheduleLimits(64, 2, 2), 512, System::nanoTime)) {
      for (String text : TEXTS) {
        List<Integer> tokens = reference.tokens(text);
        double[] right = reference.vector(tokens);
        Generation own =
            engine
                .submit(
                    GenerationRequest.vector(
                        tokens.stream().mapToInt(Integer::intValue).toArray(), pooling),
                    1,
                    new Wakeup())
                .getFirst();
        while (own.ending() == null) {
          engine.step();
        }
        worst = Math.min(worst, cosine(right, requireNonNull(own.sum())));
      }
    }
    return worst;
  }

  private static double cosine(double[] a, double[] b) {
    assertThat(b).hasSameSizeAs(a);
    double product = 0;
    double squareA = 0;
    double squareB = 0;
    for (int i = 0; i < a.length; i++) {
      product += a[i] * b[i];
      squareA += a[i] * a[i];
      squareB += b[i] * b[i];
    }
    return product / Math.sqrt(squareA * squareB);
  }
}
