package dev.flotilla.wire.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EngineRulesTest {
  @Test
  void vectorsAreMadeByTheEnginesThatReadOneFile() {
    assertThat(contradictions(EngineFlags.LLAMA_SERVER)).isEmpty();
    assertThat(contradictions(EngineFlags.BUILTIN)).isEmpty();
    for (String engine : List.of(EngineFlags.VLLM, EngineFlags.MLX_LM)) {
      assertThat(contradictions(engine))
          .extracting(EngineRules.Contradiction::key)
          .containsExactly("embeddings");
    }
  }

  private static List<EngineRules.Contradiction> contradictions(String engine) {
    return EngineRules.contradictions(
        new WorkerSpec(
            "w", "m", engine, "/m", 2048, 4, WorkerSpec.Reasoning.INLINE, false, true, Map.of()));
  }
}
