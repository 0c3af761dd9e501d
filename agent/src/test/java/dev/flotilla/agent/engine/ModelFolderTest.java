package dev.flotilla.agent.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.agent.engine.EngineAdapter.MemoryNeed;
import dev.flotilla.agent.engine.EngineAdapter.ModelRefused;
import dev.flotilla.agent.policy.Policy.EngineRule;
import dev.flotilla.wire.fleet.WorkerSpec;
import dev.flotilla.wire.fleet.WorkerSpec.Reasoning;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a folder says of a model, and what engines make of that. */
class ModelFolderTest {
  private static final String CONFIG =
      """
      {"num_hidden_layers": 30, "hidden_size": 576, "num_attention_heads": 9,
       "num_key_value_heads": 3, "head_dim": 64, "vocab_size": 49152,
       "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}
      """;

  private static final EngineRule ABSENT = new EngineRule(Optional.empty(), false);
  private static final VllmAdapter VLLM = new VllmAdapter(PythonInstallation.vllm(ABSENT, ""));
  private static final MlxLmAdapter MLX_LM =
      new MlxLmAdapter(PythonInstallation.mlxLm(Path.of("/nowhere"), ABSENT, "", true));

  @TempDir Path home;
  private Path model;

  @BeforeEach
  void aFolderWithAModel() throws IOException {
    model = folder(home.resolve("model"));
  }

  /** A folder of a small model, its weights all zeros. */
  static Path folder(Path folder) throws IOException {
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("config.json"), CONFIG);
    safetensors(folder, 4096, 4096);
    return folder;
  }

  @Test
  void aFolderSaysWhatAStartNeeds() throws Exception {
    MemoryNeed plain = VLLM.memoryNeed(spec("vllm", Map.of()), model);
    assertThat(plain.weightBytes()).isEqualTo(4096);
    MemoryNeed wide = VLLM.memoryNeed(spec("vllm", Map.of("dtype", "float32")), model);
    assertThat(wide.weightBytes()).isEqualTo(8192);
    assertThat(wide.cacheBytes()).isEqualTo(2 * plain.cacheBytes());
    assertThat(MLX_LM.memoryNeed(spec("mlx-lm", Map.of()), model).cacheBytes())
        .isEqualTo(1024L * 2 * 30 * 3 * 64 * 2 * 2);
  }

  @Test
  void aModelOfSeveralModalitiesHasItsTextInside() throws Exception {
    Files.writeString(
        model.resolve("config.json"),
        "{\"torch_dtype\": \"float32\", \"text_config\": "
            + CONFIG.replace(", \"torch_dtype\": \"bfloat16\"", "")
            + "}");
    ModelFolder folder = ModelFolder.read(model);
    assertThat(folder.layers()).isEqualTo(30);
    assertThat(folder.elementBytes()).isEqualTo(4);
  }

  @Test
  void latentAttentionKeepsOneRow() throws Exception {
    Files.writeString(
        model.resolve("config.json"),
        CONFIG.replace("{", "{\"kv_lora_rank\": 512, \"qk_rope_head_dim\": 64, "));
    assertThat(ModelFolder.read(model).cacheElements()).isEqualTo(576);
  }

  @Test
  void aFolderThatCantServeIsSaid() throws Exception {
    refused(home.resolve("gone"), "there is no such folder");
    refused(model.resolve("config.json"), "is a file; this engine reads a folder");
    Files.writeString(model.resolve("config.json"), CONFIG.replace("8192", "512"));
    refused(model, "was made for a context of 512 tokens, and promise.context is 1,024");
    Files.writeString(model.resolve("config.json"), "{\"hidden_size\": ");
    refused(model, "config.json is damaged: it is not a JSON object");
    Files.writeString(model.resolve("config.json"), "{\"hidden_size\": 5}");
    refused(model, "its config.json has no usable num_hidden_layers");
    Files.delete(model.resolve("config.json"));
    refused(model, "holds no config.json");
  }

  @Test
  void damagedWeightsAreSaid() throws Exception {
    safetensors(model, 4096, 100);
    refused(model, "model.safetensors is truncated: it has");
    Files.writeString(model.resolve("model.safetensors"), "version https://git-lfs.github.com/…");
    refused(model, "is a Git LFS pointer");
    Files.writeString(model.resolve("model.safetensors"), "short");
    refused(model, "it has no safetensors header");
    Files.writeString(
        model.resolve("model.safetensors.index.json"),
        "{\"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\"}}");
    refused(model, "is not whole: model-00001-of-00002.safetensors is missing");
    Files.writeString(
        model.resolve("model.safetensors.index.json"),
        "{\"weight_map\": {\"a\": \"../../secret\"}}");
    refused(model, "names a file outside of its folder");
    Files.delete(model.resolve("model.safetensors.index.json"));
    Files.delete(model.resolve("model.safetensors"));
    refused(model, "holds no safetensors");
  }

  @Test
  void theLongestTokenIsReadFromTheTokenizer() throws Exception {
    Path file = model.resolve("tokenizer.json");
    Files.writeString(
        file,
        """
        {"added_tokens": [{"id": 0, "content": "<|im_start|>"}],
         "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}]},
         "model": {"type": "BPE", "vocab": {"ĠtheĠĠĠĠĠĠĠĠĠĠĠĠ": 1, "a": 2}, "merges": [["a", "b"]]}}
        """);
    assertThat(VLLM.longestTokenBytes(model)).isEqualTo(16);
    Files.writeString(
        file, "{\"model\": {\"type\": \"Unigram\", \"vocab\": [[\"▁le\", -3.5], [\"x\", 0]]}}");
    assertThat(VLLM.longestTokenBytes(model)).isEqualTo(5);
    Files.writeString(file, "{\"model\": ");
    assertThat(VLLM.longestTokenBytes(model)).isZero();
    Files.delete(file);
    assertThat(MLX_LM.longestTokenBytes(model)).isZero();
  }

  private void refused(Path folder, String why) {
    WorkerSpec spec = spec("vllm", Map.of());
    assertThatThrownBy(() -> VLLM.memoryNeed(spec, folder))
        .isInstanceOf(ModelRefused.class)
        .hasMessageContaining(why);
  }

  private WorkerSpec spec(String engine, Map<String, String> args) {
    return new WorkerSpec(
        "node/small-1",
        "small",
        engine,
        model.toString(),
        1024,
        2,
        Reasoning.INLINE,
        false,
        false,
        args);
  }

  /** A file with one tensor of {@code said} bytes, of which {@code there} are there. */
  private static void safetensors(Path model, int said, int there) throws IOException {
    byte[] header =
        ("{\"__metadata__\":{\"format\":\"pt\"},\"a\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,"
                + said
                + "]}}")
            .getBytes(StandardCharsets.UTF_8);
    ByteBuffer file =
        ByteBuffer.allocate(Long.BYTES + header.length + there).order(ByteOrder.LITTLE_ENDIAN);
    file.putLong(header.length).put(header);
    Files.write(model.resolve("model.safetensors"), file.array());
  }
}
