package dev.flotilla.shape.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DialectTest {
  @Test
  void enginesGoByTheirWordInTheFleetFile() {
    assertThat(Dialect.of("llama-server")).isEqualTo(Dialect.LLAMA_SERVER);
    assertThat(Dialect.of("vllm")).isEqualTo(Dialect.VLLM);
    assertThat(Dialect.of("mlx-lm")).isEqualTo(Dialect.MLX_LM);
    assertThat(Dialect.of("backend")).isEqualTo(Dialect.UNKNOWN);
    assertThat(Dialect.of("")).isEqualTo(Dialect.UNKNOWN);
  }

  @Test
  void whatMlxLmHasNotIsThisAndNothingElse() {
    Set<Feature> lacking = EnumSet.noneOf(Feature.class);
    for (Feature feature : Feature.values()) {
      if (Dialect.MLX_LM.honours(feature) == Honour.NOT) {
        lacking.add(feature);
      }
    }
    assertThat(lacking)
        .containsExactlyInAnyOrder(
            Feature.FORCED_TOOL_CALL,
            Feature.JSON_OBJECT,
            Feature.JSON_SCHEMA,
            Feature.STREAMED_LOGPROBS,
            Feature.COMPLETION_LOGPROBS,
            Feature.SEVERAL_PROMPTS,
            Feature.TOKEN_PROMPT,
            Feature.ECHO,
            Feature.SUFFIX,
            Feature.BEST_OF);
  }

  @Test
  void aRequestForOneThingThatIsLackingIsNotHonoured() {
    assertThat(Dialect.MLX_LM.honoursAll(Set.of(Feature.STOP_STRINGS))).isTrue();
    assertThat(Dialect.MLX_LM.honoursAll(Set.of(Feature.STOP_STRINGS, Feature.JSON_SCHEMA)))
        .isFalse();
    assertThat(Dialect.VLLM.honoursAll(EnumSet.allOf(Feature.class))).isTrue();
  }
}
