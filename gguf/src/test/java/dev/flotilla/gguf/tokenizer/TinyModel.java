package dev.flotilla.gguf.tokenizer;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.StringTable;
import dev.flotilla.testkit.model.GgufWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A model of one small layer with the vocabulary of another: a llama.cpp that loads it cuts words
 * in the way that the test says, and its answers are worth nothing.
 */
final class TinyModel {
  private static final int F32 = 0;
  private static final int WIDTH = 32;

  private TinyModel() {}

  /** Writes a model with the vocabulary of {@code header} under another splitter's name. */
  static Path write(GgufHeader header, String splitter, Path file) throws IOException, GgufRefused {
    StringTable tokens = header.texts("tokenizer.ggml.tokens");
    return new GgufWriter()
        .text("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.context_length", 8192)
        .u32("llama.embedding_length", WIDTH)
        .u32("llama.feed_forward_length", WIDTH)
        .u32("llama.attention.head_count", 1)
        .u32("llama.rope.dimension_count", WIDTH)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5f)
        .text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", splitter)
        .texts("tokenizer.ggml.tokens", strings(tokens))
        .i32s("tokenizer.ggml.token_type", header.ints("tokenizer.ggml.token_type"))
        .texts("tokenizer.ggml.merges", strings(header.texts("tokenizer.ggml.merges")))
        .u32("tokenizer.ggml.bos_token_id", 1)
        .u32("tokenizer.ggml.eos_token_id", 2)
        .tensor("token_embd.weight", F32, WIDTH, tokens.size())
        .tensor("output_norm.weight", F32, WIDTH)
        .tensor("blk.0.attn_norm.weight", F32, WIDTH)
        .tensor("blk.0.attn_q.weight", F32, WIDTH, WIDTH)
        .tensor("blk.0.attn_k.weight", F32, WIDTH, WIDTH)
        .tensor("blk.0.attn_v.weight", F32, WIDTH, WIDTH)
        .tensor("blk.0.attn_output.weight", F32, WIDTH, WIDTH)
        .tensor("blk.0.ffn_norm.weight", F32, WIDTH)
        .tensor("blk.0.ffn_gate.weight", F32, WIDTH, WIDTH)
        .tensor("blk.0.ffn_up.weight", F32, WIDTH, WIDTH)
        .tensor("blk.0.ffn_down.weight", F32, WIDTH, WIDTH)
        .write(file);
  }

  private static List<String> strings(StringTable table) {
    List<String> strings = new ArrayList<>(table.size());
    for (int i = 0; i < table.size(); i++) {
      strings.add(new String(table.get(i), StandardCharsets.UTF_8));
    }
    return strings;
  }
}
