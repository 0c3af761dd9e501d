package dev.flotilla.shape.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DialectTest {
  @Test
  void enginesGoByTheirWordInTheFleetFile() {
    assertThat(Dialect.of("llama-server")).isEqualTo(Dialect.LLAMA_SERVER);
    assertThat(Dialect.of("vllm")).isEqualTo(Dialect.VLLM);
    assertThat(Dialect.of("mlx-lm")).isEqualTo(Dialect.MLX_LM);
    assertThat(Dialect.of("builtin")).isEqualTo(Dialect.BUILTIN);
    assertThat(Dialect.of("backend")).isEqualTo(Dialect.UNKNOWN);
    assertThat(Dialect.of("")).isEqualTo(Dialect.UNKNOWN);
  }

  @Test
  void whatEachEngineHasNotIsThisAndNothingElse() {
    assertThat(lacking(Dialect.LLAMA_SERVER))
        .containsExactlyInAnyOrder(
            Feature.STREAMED_LOGPROBS_WITH_TOOLS,
            Feature.ECHO,
            Feature.SUFFIX,
            Feature.BEST_OF,
            Feature.STRUCTURED_OUTPUTS,
            Feature.DIMENSIONS,
            Feature.GUIDED_DECODING);
    assertThat(lacking(Dialect.VLLM))
        .containsExactlyInAnyOrder(
            Feature.SUFFIX, Feature.BEST_OF, Feature.GBNF_GRAMMAR, Feature.GUIDED_DECODING);
    assertThat(lacking(Dialect.MLX_LM))
        .containsExactlyInAnyOrderElementsOf(
            EnumSet.complementOf(
                EnumSet.of(
                    Feature.TOOLS,
                    Feature.LOGPROBS,
                    Feature.STOP_STRINGS,
                    Feature.SEVERAL_ANSWERS,
                    Feature.SEVERAL_PROMPTS)));
    assertThat(lacking(Dialect.BUILTIN))
        .containsExactlyInAnyOrder(
            Feature.EMPTY_PROMPT,
            Feature.ECHO,
            Feature.SUFFIX,
            Feature.BEST_OF,
            Feature.MEDIA,
            Feature.GUIDED_DECODING);
    assertThat(lacking(Dialect.UNKNOWN)).isEmpty();
  }

  @Test
  void whatTheHubSeesToIsThis() {
    for (Dialect dialect : Dialect.values()) {
      assertThat(dialect.honours(Feature.SEVERAL_ANSWERS)).isEqualTo(Honour.BY_HUB);
      assertThat(dialect.honours(Feature.SEVERAL_PROMPTS)).isEqualTo(Honour.BY_HUB);
    }
    assertThat(Dialect.MLX_LM.honours(Feature.STOP_STRINGS)).isEqualTo(Honour.BY_HUB);
    assertThat(Dialect.VLLM.honours(Feature.STOP_STRINGS)).isEqualTo(Honour.BY_ENGINE);
  }

  private static Set<Feature> lacking(Dialect dialect) {
    Set<Feature> lacking = EnumSet.noneOf(Feature.class);
    for (Feature feature : Feature.values()) {
      if (dialect.honours(feature) == Honour.NOT) {
        lacking.add(feature);
      }
    }
    return lacking;
  }

  @Test
  void toolCallsAreThereWhereTheyArePromised() {
    Promise without = new Promise(Reasoning.INLINE, false);
    Promise with = new Promise(Reasoning.INLINE, true);
    for (Dialect dialect : List.of(Dialect.VLLM, Dialect.MLX_LM)) {
      assertThat(dialect.honours(Feature.TOOLS, without)).isEqualTo(Honour.NOT);
      assertThat(dialect.honours(Feature.TOOLS, with)).isEqualTo(Honour.BY_ENGINE);
    }
    assertThat(Dialect.LLAMA_SERVER.honours(Feature.TOOLS, without)).isEqualTo(Honour.BY_ENGINE);
    assertThat(Dialect.UNKNOWN.honours(Feature.TOOLS, null)).isEqualTo(Honour.BY_ENGINE);
  }
}
