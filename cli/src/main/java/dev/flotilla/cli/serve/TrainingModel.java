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
 * are single bytes, pairs of them and the marks of turns. What it says means nothing; what computes
 * it is what computes any model: weights are of the types that files of four and eight bits have,
 * since the JVM learns of each kernel by running it.
 */
final class TrainingModel {
  private static final int WIDTH = 256;
  private static final int FEED_FORWARD = 512;
  private static final int KEYS = 128;
  private static final int HEADS = 4;
  private static final int START = 256;
  private static final int END = 257;
  private static final int SPECIAL_END = 258;

  /** Bytes whose pairs are tokens too: a vocabulary with enough entries to be learned from. */
  private static final int PAIRED_FROM = '!';

  private static final int PAIRED_TO = '~';
  private static final int PAIRED = PAIRED_TO - PAIRED_FROM + 1;
  private static final int VOCABULARY = SPECIAL_END + PAIRED * PAIRED;
  private static final int ALIGNMENT = 32;
  private static final int SEED = 7;

  /** Of the layers' matrices, a type for each layer, and of what leads back into the stream. */
  private static final List<Type> LAYERS = List.of(Type.Q4_1, Type.Q4_K, Type.Q8_0, Type.Q4_0);

  private static final List<Type> DOWN = List.of(Type.Q4_1, Type.Q6_K, Type.Q8_0, Type.Q4_0);

  /**
   * How weights are stored.
   *
   * @see <a href="https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h">ggml-common.h</a>
   */
  private enum Type {
    F32(0, 1, 4, -1, -1, 1),
    Q4_0(2, 32, 18, 0, -1, 0.01f),
    Q4_1(3, 32, 20, 0, 2, 0.01f),
    Q8_0(8, 32, 34, 0, -1, 0.001f),
    Q4_K(12, 256, 144, 0, 2, 0.0003f),
    Q6_K(14, 256, 210, 208, -1, 0.00003f);

    private final int number;
    private final int elements;
    private final int bytes;
    private final int scaleAt;
    private final int minimumAt;
    private final float scale;

    /**
     * @param elements numbers in a block
     * @param scaleAt where in a block its scale is, in half precision; -1 for nowhere
     * @param minimumAt the same of its minimum
     * @param scale with which random bits are numbers near zero
     */
    Type(int number, int elements, int bytes, int scaleAt, int minimumAt, float scale) {
      this.number = number;
      this.elements = elements;
      this.bytes = bytes;
      this.scaleAt = scaleAt;
      this.minimumAt = minimumAt;
      this.scale = scale;
    }
  }

  /**
   * A matrix, or with no rows a vector of ones.
   *
   * @param columns numbers of a row
   */
  private record Weights(Type type, int columns, int rows) {}

  /** GGUF's numbers for the kinds of values. */
  private static final int NUMBER_KIND = 4;

  private static final int INT_KIND = 5;
  private static final int TEXT_KIND = 8;
  private static final int LIST_KIND = 9;

  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

  private final ByteArrayOutputStream keys = new ByteArrayOutputStream();
  private final Map<String, Weights> weights = new LinkedHashMap<>();
  private int keyCount;

  private TrainingModel() {}

  /** The file's bytes. */
  static byte[] bytes() {
    return new TrainingModel().file();
  }

  private byte[] file() {
    weights.put("token_embd.weight", new Weights(Type.Q8_0, WIDTH, VOCABULARY));
    weights.put("output_norm.weight", new Weights(Type.F32, WIDTH, 0));
    for (int i = 0; i < LAYERS.size(); i++) {
      String at = "blk." + i + ".";
      Type type = LAYERS.get(i);
      weights.put(at + "attn_norm.weight", new Weights(Type.F32, WIDTH, 0));
      weights.put(at + "attn_q.weight", new Weights(type, WIDTH, WIDTH));
      weights.put(at + "attn_k.weight", new Weights(type, WIDTH, KEYS));
      weights.put(at + "attn_v.weight", new Weights(DOWN.get(i), WIDTH, KEYS));
      weights.put(at + "attn_output.weight", new Weights(type, WIDTH, WIDTH));
      weights.put(at + "ffn_norm.weight", new Weights(Type.F32, WIDTH, 0));
      weights.put(at + "ffn_gate.weight", new Weights(type, WIDTH, FEED_FORWARD));
      weights.put(at + "ffn_up.weight", new Weights(type, WIDTH, FEED_FORWARD));
      weights.put(at + "ffn_down.weight", new Weights(DOWN.get(i), FEED_FORWARD, WIDTH));
    }
    writeKeys();
    ByteArrayOutputStream infos = new ByteArrayOutputStream();
    ByteArrayOutputStream data = new ByteArrayOutputStream();
    Random random = new Random(SEED);
    weights.forEach((name, each) -> {
      string(infos, name);
      infos.writeBytes(ints(each.rows() == 0 ? 1 : 2));
      infos.writeBytes(longs(each.columns()));
      if (each.rows() > 0) {
        infos.writeBytes(longs(each.rows()));
      }
      infos.writeBytes(ints(each.type().number));
      infos.writeBytes(longs(data.size()));
      data.writeBytes(each.rows() == 0 ? ones(each.columns()) : blocks(each, random));
      pad(data, data.size());
    });
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.writeBytes("GGUF".getBytes(UTF_8));
    file.writeBytes(ints(3));
    file.writeBytes(longs(weights.size()));
    file.writeBytes(longs(keyCount));
    file.writeBytes(keys.toByteArray());
    file.writeBytes(infos.toByteArray());
    pad(file, file.size());
    file.writeBytes(data.toByteArray());
    return file.toByteArray();
  }

  private void writeKeys() {
    text("general.architecture", "llama");
    number("llama.block_count", LAYERS.size());
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
    List<String> merges = new ArrayList<>();
    for (int left = PAIRED_FROM; left <= PAIRED_TO; left++) {
      for (int right = PAIRED_FROM; right <= PAIRED_TO; right++) {
        tokens.add(letter(left) + letter(right));
        merges.add(letter(left) + " " + letter(right));
      }
    }
    texts("tokenizer.ggml.tokens", tokens);
    head("tokenizer.ggml.token_type", LIST_KIND);
    keys.writeBytes(ints(INT_KIND));
    keys.writeBytes(longs(VOCABULARY));
    for (int i = 0; i < VOCABULARY; i++) {
      keys.writeBytes(ints(i < START || i >= SPECIAL_END ? 1 : 3));
    }
    texts("tokenizer.ggml.merges", merges);
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
  private static byte[] blocks(Weights matrix, Random random) {
    Type type = matrix.type();
    byte[] bytes = new byte[matrix.columns() * matrix.rows() / type.elements * type.bytes];
    random.nextBytes(bytes);
    ByteBuffer blocks = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at < bytes.length; at += type.bytes) {
      blocks.putShort(at + type.scaleAt, Float.floatToFloat16(type.scale));
      if (type.minimumAt >= 0) {
        // in Q4_1 it is added, in Q4_K taken away
        float minimum = type == Type.Q4_1 ? -7.5f * type.scale : 7.5f * type.scale;
        blocks.putShort(at + type.minimumAt, Float.floatToFloat16(minimum));
      }
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
