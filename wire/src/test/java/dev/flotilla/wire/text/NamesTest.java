package dev.flotilla.wire.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {
  @ParameterizedTest
  @ValueSource(strings = {"a", "mac-studio.local", "node_1", "0"})
  void goodNodes(String name) {
    assertThat(Names.nodeProblem(name)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"smollm2-135m", "qwen/Qwen3-8B", "llama3:8b", "a@b", "a.b_c"})
  void goodModels(String name) {
    assertThat(Names.modelProblem(name)).isEmpty();
    assertThat(Names.workerProblem(Names.worker("node", name, 12))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", "..", ".", ".hidden", "-x", "/x", "a/", "a//b", "a/../b", "a/.b", "a..b", "a b", "a\nb",
        "a\0b", "é", "a\\b", "a%2e", "\u202Ea"
      })
  void badModelsAreRefusedWithAReason(String name) {
    assertThat(Names.modelProblem(name))
        .hasValueSatisfying(problem ->
            assertThat(problem).startsWith("a model's name ").doesNotContain("\n", "\0", "\u202E"));
  }

  @Test
  void nodesHaveNoSlashes() {
    assertThat(Names.nodeProblem("a/b")).isPresent();
    assertThat(Names.nodeProblem("a:b")).isPresent();
  }

  @Test
  void aLongNameIsNotRepeated() {
    assertThat(Names.modelProblem("x".repeat(10_000)))
        .contains("a model's name has 10000 characters; at most 128 are allowed");
    assertThat(Names.modelProblem("x".repeat(128))).isEmpty();
    assertThat(Names.shown("x".repeat(10_000))).hasSizeLessThan(50);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "n",
        "n/m",
        "n/m-",
        "n/m-0",
        "n/m-01",
        "n/m-x",
        "n/m-100000",
        "/m-1",
        "n/-1",
        "n/../m-1",
        "n/m -1"
      })
  void badWorkers(String name) {
    assertThat(Names.workerProblem(name)).isPresent();
  }
}
