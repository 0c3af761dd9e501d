package dev.flotilla.testkit.model;

import dev.flotilla.testkit.model.GgufKeys.Value;
import dev.flotilla.testkit.real.SmallModel;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * A model file with random weights, of an architecture of which no small real model can be had: it
 * says nothing of sense, and llama.cpp, which loads the same file, says what is right.
 *
 * <p>Weights have such a spread that a model's stream and its scores of attention stay near 1.
 * Logits have a spread of about {@value #LOGIT_SPREAD}: the noise of quantised activations, which
 * is a part of that, stays well below the distance at which two tokens count as a tie, and another
 * model's logits are whole nats away. Norms and biases are so uneven that a computation without
 * them says something else. The vocabulary is that of {@link SmallModel}, cut into words as the
 * family does. The same order makes the same bytes.
 *
 * <p>As a program it makes the model of the speed tests, once, and prints where it is: {@code
 * RandomModel Q4_0} or {@code RandomModel Q4_K}.
 */
public final class RandomModel {
  private static final double LOGIT_SPREAD = 0.5;

  /** Of norms' weights, around 1, and of biases, around 0. */
  private static final float UNEVEN = 0.5f;

  private static final int NORMAL_TOKEN = 1;
  private static final int F32 = 0;

  private final Family family;
  private final Sizes sizes;
  private final List<RandomBlocks> types;
  private final RandomBlocks embeddings;
  private final long seed;
  private final GgufWriter writer = new GgufWriter();
  private int matrices;
  private int tokens;

  private RandomModel(
      Family family, Sizes sizes, RandomBlocks embeddings, List<RandomBlocks> types, long seed) {
    this.family = family;
    this.sizes = sizes;
    this.embeddings = embeddings;
    this.types = types;
    this.seed = seed;
  }

  /** The architectures, each with what sets it apart from the others. */
  public enum Family {
    /** Rotation frequencies with factors of their own, embeddings apart from the output. */
    LLAMA_3("llama", "llama-bpe", false),
    /** Heads that are not the width's part. */
    MISTRAL("llama", "tekken", false),
    /** Biases. */
    QWEN_2("qwen2", "qwen2", false),
    /** Normed queries and keys, tied embeddings. */
    QWEN_3("qwen3", "qwen2", true),
    /** Windows in five layers of six, norms behind each layer, positions scaled. */
    GEMMA_3("gemma3", "default", true);

    private final String word;
    private final String splitter;
    private final boolean tied;

    Family(String word, String splitter, boolean tied) {
      this.word = word;
      this.splitter = splitter;
      this.tied = tied;
    }

    private Sizes small() {
      return switch (this) {
        case LLAMA_3, QWEN_2 -> new Sizes(256, 4, 2, 64, 512, 4);
        case MISTRAL -> new Sizes(256, 4, 1, 128, 512, 4);
        case QWEN_3 -> new Sizes(256, 4, 2, 128, 512, 4);
        case GEMMA_3 -> new Sizes(256, 4, 1, 64, 512, 7);
      };
    }
  }

  private record Sizes(
      int width, int heads, int kvHeads, int headSize, int feedForward, int layers) {}

  /** Tokens that a sequence of the small models may have. */
  private static final int SMALL_CONTEXT = 2048;

  /** Qwen3-0.6B's own sizes, vocabulary and context. */
  private static final Sizes QWEN_3_SIZES = new Sizes(1024, 16, 8, 128, 3072, 28);

  private static final int QWEN_3_VOCABULARY = 151_936;
  private static final int QWEN_3_CONTEXT = 40_960;

  /** A window that is shorter than what tests say. */
  private static final int SMALL_WINDOW = 24;

  /**
   * A small model, whose matrices are of these types in turn.
   *
   * @param file where it is written
   */
  public static Path small(Family family, Path file, long seed, RandomBlocks... types)
      throws IOException {
    RandomModel model = new RandomModel(family, family.small(), types[0], List.of(types), seed);
    model.keys(SMALL_CONTEXT, 0);
    return model.weights().write(file);
  }

  /**
   * A model as large as Qwen3-0.6B, for measuring speed, in the tests' cache: made when it is asked
   * for first, 340 MB. As in files of real models of four bits, embeddings have six.
   */
  public static Path qwen3(RandomBlocks type) {
    String name = "random-qwen3-0.6b-" + type.name().toLowerCase(Locale.ROOT) + ".gguf";
    return SmallModel.once(
        name,
        part -> {
          RandomModel model =
              new RandomModel(
                  Family.QWEN_3, QWEN_3_SIZES, RandomBlocks.Q6_K, List.of(type), type.id());
          model.keys(QWEN_3_CONTEXT, QWEN_3_VOCABULARY);
          model.weights().write(part);
        });
  }

  /** Makes the model of the speed tests. */
  public static void main(String[] arguments) {
    RandomBlocks type = RandomBlocks.valueOf(arguments.length == 0 ? "Q4_0" : arguments[0]);
    System.out.println(qwen3(type));
  }

  private void keys(int context, int vocabulary) throws IOException {
    String at = family.word + ".";
    writer
        .text("general.architecture", family.word)
        .text("general.name", "Random " + family)
        .u32(at + "block_count", sizes.layers)
        .u32(at + "context_length", context)
        .u32(at + "embedding_length", sizes.width)
        .u32(at + "feed_forward_length", sizes.feedForward)
        .u32(at + "attention.head_count", sizes.heads)
        .u32(at + "attention.head_count_kv", sizes.kvHeads)
        .u32(at + "attention.key_length", sizes.headSize)
        .u32(at + "attention.value_length", sizes.headSize)
        .f32(at + "attention.layer_norm_rms_epsilon", 1e-6f)
        .f32(at + "rope.freq_base", family == Family.LLAMA_3 ? 500_000f : 1_000_000f);
    if (family.word.equals("llama")) {
      writer.u32(at + "rope.dimension_count", sizes.headSize);
    }
    if (family == Family.GEMMA_3) {
      writer
          .u32(at + "attention.sliding_window", SMALL_WINDOW)
          .text(at + "rope.scaling.type", "linear")
          .f32(at + "rope.scaling.factor", 8f);
    }
    vocabulary(vocabulary);
  }

  /** The small model's tokens, and so many more that no text has. */
  private void vocabulary(int atLeast) throws IOException {
    Map<String, Value> keys = GgufKeys.of(SmallModel.gguf(), "tokenizer.");
    Value texts = keys.get("tokenizer.ggml.tokens");
    Value kinds = keys.get("tokenizer.ggml.token_type");
    if (texts == null || kinds == null) {
      throw new IOException("the small model has no vocabulary");
    }
    int more = Math.max(0, atLeast - texts.count());
    tokens = texts.count() + more;
    keys.put("tokenizer.ggml.tokens", texts.extended(more, moreTexts(texts.count(), more)));
    keys.put("tokenizer.ggml.token_type", kinds.extended(more, moreKinds(more)));
    keys.remove("tokenizer.ggml.pre");
    writer.text("tokenizer.ggml.pre", family.splitter);
    keys.forEach((key, value) -> writer.raw(key, value.type(), value.bytes()));
  }

  private static byte[] moreTexts(int from, int count) {
    ByteArrayOutputStream texts = new ByteArrayOutputStream();
    for (int i = from; i < from + count; i++) {
      byte[] text = ("Ġtoken" + i).getBytes(StandardCharsets.UTF_8);
      texts.writeBytes(
          ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(text.length).array());
      texts.writeBytes(text);
    }
    return texts.toByteArray();
  }

  private static byte[] moreKinds(int count) {
    ByteBuffer kinds = ByteBuffer.allocate(4 * count).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      kinds.putInt(NORMAL_TOKEN);
    }
    return kinds.array();
  }

  private GgufWriter weights() {
    int queries = sizes.heads * sizes.headSize;
    int kv = sizes.kvHeads * sizes.headSize;
    matrix("token_embd.weight", embeddings, tokens, sizes.width, LOGIT_SPREAD);
    vector("output_norm.weight", sizes.width, 1);
    if (!family.tied) {
      matrix("output.weight", tokens, sizes.width, LOGIT_SPREAD);
    }
    if (family == Family.LLAMA_3) {
      ropeFactors();
    }
    for (int layer = 0; layer < sizes.layers; layer++) {
      String at = "blk." + layer + ".";
      vector(at + "attn_norm.weight", sizes.width, 1);
      matrix(at + "attn_q.weight", queries, sizes.width, 1.3);
      matrix(at + "attn_k.weight", kv, sizes.width, 1.3);
      matrix(at + "attn_v.weight", kv, sizes.width, 1);
      matrix(at + "attn_output.weight", sizes.width, queries, 1);
      vector(at + "ffn_norm.weight", sizes.width, 1);
      matrix(at + "ffn_gate.weight", sizes.feedForward, sizes.width, 1);
      matrix(at + "ffn_up.weight", sizes.feedForward, sizes.width, 1);
      matrix(at + "ffn_down.weight", sizes.width, sizes.feedForward, 1);
      own(at, queries, kv);
    }
    return writer;
  }

  /** What the family's layers have beside the common. */
  private void own(String at, int queries, int kv) {
    if (family == Family.QWEN_2) {
      vector(at + "attn_q.bias", queries, 0);
      vector(at + "attn_k.bias", kv, 0);
      vector(at + "attn_v.bias", kv, 0);
    }
    if (family == Family.QWEN_3 || family == Family.GEMMA_3) {
      vector(at + "attn_q_norm.weight", sizes.headSize, 1);
      vector(at + "attn_k_norm.weight", sizes.headSize, 1);
    }
    if (family == Family.GEMMA_3) {
      vector(at + "post_attention_norm.weight", sizes.width, 1);
      vector(at + "post_ffw_norm.weight", sizes.width, 1);
    }
  }

  /** As Llama 3 has them: none for fast pairs, eight for slow ones, between them a slope. */
  private void ropeFactors() {
    int pairs = sizes.headSize / 2;
    ByteBuffer factors = ByteBuffer.allocate(4 * pairs).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < pairs; i++) {
      factors.putFloat(Math.clamp(21f * i / pairs - 6, 1f, 8f));
    }
    writer.tensorOf("rope_freqs.weight", F32, factors.array(), pairs);
  }

  private void matrix(String name, int rows, int columns, double gain) {
    matrix(name, types.get(matrices++ % types.size()), rows, columns, gain);
  }

  private void matrix(String name, RandomBlocks type, int rows, int columns, double gain) {
    long elements = (long) rows * columns;
    double deviation = gain / Math.sqrt(columns);
    writer.tensorFrom(
        name,
        type.id(),
        type.bytes(elements),
        out -> type.write(elements, deviation, random(name), out),
        columns,
        rows);
  }

  private void vector(String name, int length, float mean) {
    Random random = random(name);
    ByteBuffer numbers = ByteBuffer.allocate(4 * length).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < length; i++) {
      numbers.putFloat(mean + UNEVEN * (2 * random.nextFloat() - 1));
    }
    writer.tensorOf(name, F32, numbers.array(), length);
  }

  /** Each tensor's own, so that what is written before it does not change it. */
  private Random random(String name) {
    return new Random(seed * 31 + name.hashCode());
  }
}
