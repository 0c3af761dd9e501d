package dev.flotilla.wire.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EngineFlagsTest {
  @Test
  void whatAnEngineWouldReadAsAnOwnedOptionIsOwned() {
    assertThat(EngineFlags.owner("vllm", "max-model-len")).hasValue("promise.context");
    assertThat(EngineFlags.owner("vllm", "max_model_len")).hasValue("promise.context");
    assertThat(EngineFlags.owner("vllm", "max-mod")).hasValue("promise.context");
    assertThat(EngineFlags.owner("mlx-lm", "decode")).hasValue("slots");
    assertThat(EngineFlags.owner("llama-server", "np")).hasValue("slots");
    assertThat(EngineFlags.owner("builtin", "context")).hasValue("promise.context");
  }

  @Test
  void whatNothingOwnsIsTheRecipes() {
    assertThat(EngineFlags.owner("builtin", "kv-type")).isEmpty();
    assertThat(EngineFlags.owner("vllm", "dtype")).isEmpty();
    assertThat(EngineFlags.owner("vllm", "model-impl")).isEmpty();
    assertThat(EngineFlags.owner("vllm", "tensor-parallel-size")).isEmpty();
    assertThat(EngineFlags.owner("vllm", "gpu-memory-utilization")).isEmpty();
    assertThat(EngineFlags.owner("mlx-lm", "prefill-step-size")).isEmpty();
    assertThat(EngineFlags.owner("llama-server", "decode-concurrency")).isEmpty();
  }
}
