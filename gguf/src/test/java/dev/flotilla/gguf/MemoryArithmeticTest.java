package dev.flotilla.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.MemoryArithmetic.CacheLayout;
import dev.flotilla.testkit.model.GgufWriter;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MemoryArithmeticTest {
  private static final long MIB = 1024 * 1024;

  @TempDir Path folder;

  /** llama.cpp's own breakdown of this model says 384 MiB. */
  @Test
  void qwen3OfThirtyBillionTakes384MebibytesFor4096Tokens() throws Exception {
    GgufWriter qwen =
        model("qwen3moe", 48, 2048, 32)
            .u32("qwen3moe.attention.head_count_kv", 4)
            .u32("qwen3moe.attention.key_length", 128)
            .u32("qwen3moe.attention.value_length", 128);
    assertThat(cache(qwen, CacheLayout.plain(4096, 1))).isEqualTo(384 * MIB);
  }

  @Test
  void everySlotHasItsOwnContextRoundedTo256() throws Exception {
    GgufWriter tiny = GgufWriter.tinyLlama(); // 2 layers × 2 heads × 16 × (K and V) × 2 bytes
    long token = 2 * 2 * 16 * 2 * 2;
    assertThat(cache(tiny, CacheLayout.plain(4000, 4))).isEqualTo(4 * 4096 * token);
    CacheLayout unified =
        new CacheLayout(4000, 4, true, TensorType.F16, TensorType.F16, 512, false);
    assertThat(cache(tiny, unified)).isEqualTo(16128 * token);
  }

  @Test
  void aQuantisedCacheIsSmaller() throws Exception {
    CacheLayout quantised =
        new CacheLayout(4096, 1, false, TensorType.Q8_0, TensorType.Q4_0, 512, false);
    // A row of keys is 32 numbers: 34 bytes in q8_0, 18 in q4_0.
    assertThat(cache(GgufWriter.tinyLlama(), quantised)).isEqualTo(4096L * 2 * (34 + 18));
  }

  /** gemma3-270m: 18 layers, every sixth sees the whole context, the others 512 tokens. */
  @Test
  void windowedLayersOfGemma3KeepTheirWindowAndOneBatch() throws Exception {
    GgufWriter gemma =
        model("gemma3", 18, 640, 4)
            .u32("gemma3.attention.head_count_kv", 1)
            .u32("gemma3.attention.key_length", 256)
            .u32("gemma3.attention.value_length", 256)
            .u32("gemma3.attention.sliding_window", 512);
    long token = 256 * 2 * 2;
    assertThat(cache(gemma, CacheLayout.plain(8192, 2)))
        .isEqualTo(2 * token * (3 * 8192 + 15 * 1024));
    CacheLayout whole = new CacheLayout(8192, 2, false, TensorType.F16, TensorType.F16, 512, true);
    assertThat(cache(gemma, whole)).isEqualTo(2 * token * 18 * 8192);
  }

  @Test
  void gemma2HasAWindowThatItsFileNeedNotName() throws Exception {
    GgufWriter gemma = model("gemma2", 2, 64, 4).u32("gemma2.attention.head_count_kv", 4);
    long token = 64 * 2 * 2;
    assertThat(cache(gemma, CacheLayout.plain(8192, 1))).isEqualTo(token * (8192 + 4608));
  }

  @Test
  void headsAndWindowsMayDifferFromLayerToLayer() throws Exception {
    GgufWriter gemma4 =
        model("gemma4", 3, 64, 4)
            .i32s("gemma4.attention.head_count_kv", 4, 0, 2)
            .u32("gemma4.attention.sliding_window", 512)
            .bools("gemma4.attention.sliding_window_pattern", true, true, false)
            .u32("gemma4.attention.key_length_swa", 8)
            .u32("gemma4.attention.value_length_swa", 8);
    assertThat(cache(gemma4, CacheLayout.plain(4096, 1)))
        .isEqualTo(1024 * (4 * 8 * 2 * 2) + 4096 * (2 * 16 * 2 * 2));
  }

  @Test
  void aLatentCacheHasKeysOnly() throws Exception {
    GgufWriter deepseek =
        model("deepseek2", 1, 64, 4)
            .u32("deepseek2.attention.head_count_kv", 1)
            .u32("deepseek2.attention.key_length", 576)
            .u32("deepseek2.attention.value_length", 512)
            .u32("deepseek2.attention.key_length_mla", 192)
            .u32("deepseek2.attention.value_length_mla", 128);
    assertThat(cache(deepseek, CacheLayout.plain(256, 1))).isEqualTo(256 * 576 * 2);
  }

  @Test
  void recurrentLayersHaveAStateForEachSlotWhateverTheContext() throws Exception {
    GgufWriter mamba =
        model("mamba", 2, 64, 0)
            .u32("mamba.ssm.conv_kernel", 4)
            .u32("mamba.ssm.inner_size", 128)
            .u32("mamba.ssm.state_size", 16);
    long state = (3 * 128 + 16 * 128) * 4;
    assertThat(cache(mamba, CacheLayout.plain(1024, 4))).isEqualTo(2 * 4 * state);
    assertThat(cache(mamba, CacheLayout.plain(65536, 4))).isEqualTo(2 * 4 * state);
  }

  @Test
  void anEncoderHasNoCache() throws Exception {
    assertThat(cache(model("bert", 12, 384, 12), CacheLayout.plain(512, 4))).isZero();
  }

  @Test
  void aHeaderThatLacksWhatTheSumNeedsIsRefused() throws Exception {
    GgufWriter bare = new GgufWriter().text("general.architecture", "llama");
    assertThatThrownBy(() -> cache(bare, CacheLayout.plain(4096, 1)))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining("its header lacks llama.block_count");
    assertThatThrownBy(() -> cache(new GgufWriter(), CacheLayout.plain(4096, 1)))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining("names no architecture");
  }

  private static GgufWriter model(String architecture, int layers, int embedding, int heads) {
    return new GgufWriter()
        .text("general.architecture", architecture)
        .u32(architecture + ".block_count", layers)
        .u32(architecture + ".embedding_length", embedding)
        .u32(architecture + ".attention.head_count", heads);
  }

  private long cache(GgufWriter writer, CacheLayout layout) throws IOException, GgufRefused {
    return MemoryArithmetic.cacheBytes(
        GgufHeader.read(writer.write(folder.resolve("m.gguf"))), layout);
  }
}
