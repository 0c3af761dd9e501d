package dev.flotilla.cli.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The least of a model, as a GGUF file: the llama architecture with random weights, whose tokens
 * are single bytes and the marks of turns. What it says means nothing; what computes it is what
 * computes any model.
 */
final class TrainingModel {
  private static final int WIDTH = 256;
  private static final int FEED_FORWARD = 512;
  private static final int KEYS = 128;
  private static final int HEADS = 4;
  private static final int LAYERS = 2;
  private static final int START = 256;
  private static final int END = 257;
  private static final int VOCABULARY = 258;
  private static final int ALIGNMENT = 32;
  private static final int F32 = 0;
  private static final int Q4_1 = 3;
  private static final int BLOCK = 32;
  private static final int BLOCK_BYTES = 20;
  private static final int SEED = 7;

  /** GGUF's numbers for the kinds of values. */
  private static final int NUMBER_KIND = 4;

  private static final int INT_KIND = 5;
  private static final int TEXT_KIND = 8;
  private static final int LIST_KIND = 9;

  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

  private final ByteArrayOutputStream keys = new ByteArrayOutputStream();
  private final Map<String, int[]> matrices = new LinkedHashMap<>();
  private int keyCount;

  private TrainingModel() {}

  /** The file's bytes. */
  static byte[] bytes() {
    return new TrainingModel().file();
  }

  private byte[] file() {
    matrices.put("token_embd.weight", new int[] {WIDTH, VOCABULARY});
    matrices.put("output_norm.weight", new int[] {WIDTH});
    for (int i = 0; i < LAYERS; i++) {
      String at = "blk." + i + ".";
      matrices.put(at + "attn_norm.weight", new int[] {WIDTH});
      matrices.put(at + "attn_q.weight", new int[] {WIDTH, WIDTH});
      matrices.put(at + "attn_k.weight", new int[] {WIDTH, KEYS});
      matrices.put(at + "attn_v.weight", new int[] {WIDTH, KEYS});
      matrices.put(at + "attn_output.weight", new int[] {WIDTH, WIDTH});
      matrices.put(at + "ffn_norm.weight", new int[] {WIDTH});
      matrices.put(at + "ffn_gate.weight", new int[] {WIDTH, FEED_FORWARD});
      matrices.put(at + "ffn_up.weight", new int[] {WIDTH, FEED_FORWARD});
      matrices.put(at + "ffn_down.weight", new int[] {FEED_FORWARD, WIDTH});
    }
    writeKeys();
    ByteArrayOutputStream infos = new ByteArrayOutputStream();
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    Random random = new Random(SEED);
    matrices.forEach((name, dims) -> {
      string(infos, name);
      infos.writeBytes(ints(dims.length));
      for (int dim : dims) {
        infos.writeBytes(longs(dim));
      }
      infos.writeBytes(ints(dims.length == 1 ? F32 : Q4_1));
      infos.writeBytes(longs(data.size()));
      data.writeBytes(dims.length == 1 ? ones(dims[0]) : blocks(dims[0] * dims[1], random));
      pad(data, data.size());
    });
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes("GGUF".getBytes(UTF_8));
    file.writeBytes(ints(3));
    file.writeBytes(longs(matrices.size()));
    file.writeBytes(longs(keyCount));
    file.writeBytes(keys.toByteArray());
    file.writeBytes(infos.toByteArray());
    pad(file, file.size());
    file.writeBytes(data.toByteArray());
    return file.toByteArray();
  }

  private void writeKeys() {
    text("general.architecture", "llama");
    number("llama.block_count", LAYERS);
    number("llama.context_length", 2048);
    number("llama.embedding_length", WIDTH);
    number("llama.feed_forward_length", FEED_FORWARD);
    number("llama.attention.head_count", HEADS);
    number("llama.attention.head_count_kv", HEADS / 2);
    text("tokenizer.ggml.model", "gpt2");
    text("tokenizer.ggml.pre", "smollm");
    List<String> tokens = new ArrayList<>();
    for (int b = 0; b < START; b++) {
      tokens.add(letter(b));
    }
    tokens.add("<|im_start|>");
    tokens.add("<|im_end|>");
    texts("tokenizer.ggml.tokens", tokens);
    head("tokenizer.ggml.token_type", LIST_KIND);
    keys.writeBytes(ints(INT_KIND));
    keys.writeBytes(longs(VOCABULARY));
    for (int i = 0; i < VOCABULARY; i++) {
      keys.writeBytes(ints(i < START ? 1 : 3));
    }
    texts("tokenizer.ggml.merges", List.of());
    number("tokenizer.ggml.bos_token_id", START);
    number("tokenizer.ggml.eos_token_id", END);
    text("tokenizer.chat_template", TEMPLATE);
  }

  /** GPT-2's letters for bytes. */
  private static String letter(int b) {
    boolean itself = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    if (itself) {
      return Character.toString(b);
    }
    int place = b <= 0x20 ? b : b <= 0xA0 ? b - 0x7F + 33 : 67;
    return Character.toString(256 + place);
  }

  private static byte[] ones(int count) {
    byte[] bytes = new byte[count * Float.BYTES];
    ByteBuffer ones = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      ones.putFloat(1f);
    }
    return bytes;
  }

  /** Any bytes are a block where its scale and its minimum are sane. */
  private static byte[] blocks(int numbers, Random random) {
    byte[] bytes = new byte[numbers / BLOCK * BLOCK_BYTES];
    random.nextBytes(bytes);
    ByteBuffer blocks = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < bytes.length; at += BLOCK_BYTES) {
      blocks.putShort(at, Float.floatToFloat16(0.01f));
      blocks.putShort(at + Short.BYTES, Float.floatToFloat16(-0.075f));
    }
    return bytes;
  }

  private static void pad(ByteArrayOutputStream out, int size) {
    out.writeBytes(new byte[Math.ceilDiv(size, ALIGNMENT) * ALIGNMENT - size]);
  }

  private void text(String key, String value) {
    head(key, TEXT_KIND);
    string(keys, value);
  }

  private void texts(String key, List<String> values) {
    head(key, LIST_KIND);
    keys.writeBytes(ints(TEXT_KIND));
    keys.writeBytes(longs(values.size()));
    values.forEach(value -> string(keys, value));
  }

  private void number(String key, int value) {
    head(key, NUMBER_KIND);
    keys.writeBytes(ints(value));
  }

  private void head(String key, int kind) {
    keyCount++;
    string(keys, key);
    keys.writeBytes(ints(kind));
  }

  private static void string(ByteArrayOutputStream out, String text) {
    byte[] bytes = text.getBytes(UTF_8);
    out.writeBytes(longs(bytes.length));
    out.writeBytes(bytes);
  }

  private static byte[] ints(int value) {
    return little(Integer.BYTES).putInt(value).array();
  }

  private static byte[] longs(long value) {
    return little(Long.BYTES).putLong(value).array();
  }

  private static ByteBuffer little(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }
}
