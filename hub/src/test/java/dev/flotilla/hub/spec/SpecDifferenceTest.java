package dev.flotilla.hub.spec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.hub.spec.FleetFile.Reading;
import dev.flotilla.hub.spec.SpecDifference.Change;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpecDifferenceTest {

  private static final FleetSpec NOTHING = read("models: {}");
  private static final FleetSpec WHOLE = read(FleetFileTest.WHOLE);

  private static FleetSpec read(String yaml) {
    return ((Reading.Good) FleetFile.read(yaml, "f")).spec();
  }

  private static List<String> afterReplacing(String what, String with) {
    return words(SpecDifference.between(WHOLE, read(FleetFileTest.WHOLE.replace(what, with))));
  }

  private static List<String> words(List<Change> changes) {
    return changes.stream().map(Change::toString).toList();
  }

  @Test
  void whatComes() {
    assertThat(words(SpecDifference.between(NOTHING, WHOLE)))
        .containsExactly(
            "model qwen3-4b: added: context 16384, 2 workers are started",
            "model bge: added: context 512, 1 worker is started",
            "backend fusion-strix: added: http://10.0.0.5:8080/v1, model coder, slots 1",
            "backend fusion-m5: added: https://10.0.0.7/v1, model mlx-community/Qwen3.6-27B-8bit, slots 4",
            "route coder-fusion: added: coder-fusion, coder → backend fusion-strix, model qwen3-4b",
            "limits: queue.per-model 256 → 100",
            "limits: request-body 32 MiB → 8 MiB");
  }

  @Test
  void whatGoes() {
    assertThat(words(SpecDifference.between(WHOLE, NOTHING)))
        .contains(
            "model qwen3-4b: removed: 2 workers are stopped",
            "backend fusion-m5: removed",
            "route coder-fusion: removed");
  }

  @Test
  void whatChanges() {
    assertThat(afterReplacing("context: 16384", "context: 8192"))
        .containsExactly("model qwen3-4b: context 16384 → 8192: its 2 workers are restarted");
    assertThat(afterReplacing("replicas: 2", "replicas: 3"))
        .containsExactly("model qwen3-4b: replicas 2 → 3: 1 worker more is started");
    assertThat(afterReplacing("replicas: 2", "replicas: 1"))
        .containsExactly("model qwen3-4b: replicas 2 → 1: 1 worker is stopped");
    assertThat(afterReplacing("slots: 8", "slots: 2"))
        .containsExactly(
            "model qwen3-4b: recipes[0].slots 8 → 2: the workers started by it are restarted");
    assertThat(afterReplacing("gpu: apple", "gpu: amd"))
        .containsExactly(
            "model qwen3-4b: recipes[0].when os macos or linux and gpu apple → os macos or linux and"
                + " gpu amd: workers on nodes that it suits no longer move");
    assertThat(afterReplacing("threads: 6", "threads: 7")).hasSize(1);
    assertThat(afterReplacing("key: env:M5_KEY", ""))
        .containsExactly("backend fusion-m5: key M5_KEY → none");
    assertThat(afterReplacing("- { backend: fusion-strix }", "- { backend: fusion-m5 }"))
        .containsExactly(
            "route coder-fusion: to backend fusion-strix, model qwen3-4b → backend fusion-m5, model"
                + " qwen3-4b");
    assertThat(afterReplacing("wait: 2m", "wait: 90s"))
        .containsExactly("limits: queue.wait 2m → 90s");
  }

  @Test
  void theOrderOfArgumentsChangesNothing() {
    assertThat(
            afterReplacing(
                "n-gpu-layers: 99, flash-attn: \"on\"", "flash-attn: on, n-gpu-layers: 99"))
        .isEmpty();
  }
}
