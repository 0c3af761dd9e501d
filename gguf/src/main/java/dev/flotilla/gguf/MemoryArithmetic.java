package dev.flotilla.gguf;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;

/**
 * How much memory a model takes in llama.cpp, from its header alone.
 *
 * <p>Source of every rule: llama.cpp's {@code llama-kv-cache*.cpp}, {@code llama-hparams.cpp} and
 * {@code llama-model.cpp}. Checked against its own breakdown: Qwen3-30B-A3B with 4096 tokens in f16
 * is 384 MiB. What the header cannot tell (the compute buffers of a backend) is not here.
 */
public final class MemoryArithmetic {

  /** llama.cpp rounds every stream's cells up to this. */
  private static final long CELLS_STEP = 256;

  /** Caches of encoders: there are none. */
  private static final Set<String> WITHOUT_CACHE =
      Set.of(
          "bert",
          "eurobert",
          "gemma-embedding",
          "jina-bert-v2",
          "jina-bert-v3",
          "modern-bert",
          "neo-bert",
          "nomic-bert",
          "nomic-bert-moe",
          "t5encoder");

  /** Every n-th layer looks at the whole context, the others at a window, where no key says so. */
  private static final Map<String, Integer> WINDOW_PERIODS =
      Map.of(
          "gemma2",
          2,
          "gemma3",
          6,
          "gemma3n",
          5,
          "gpt-oss",
          2,
          "llama4",
          4,
          "cohere2",
          4,
          "exaone4",
          4,
          "exaone-moe",
          4,
          "olmo2",
          4,
          "smallthinker",
          4);

  /** The windows of architectures whose files may leave the key out. */
  private static final Map<String, Long> WINDOWS =
      Map.of("gemma2", 4096L, "llama4", 8192L, "exaone-moe", 128L);

  /** Architectures whose layers are recurrent but for every n-th, and that n. */
  private static final Map<String, Integer> HYBRID_PERIODS =
      Map.of("qwen3next", 4, "qwen35", 4, "qwen35moe", 4);

  private static final long GEMMA3N_CACHED_LAYERS = 20;

  private MemoryArithmetic() {}

  /**
   * How the cache is to be laid out.
   *
   * @param contextTokens tokens of one slot
   * @param slots sequences at once
   * @param unified whether all slots share one pool of cells
   * @param keys storage type of the keys
   * @param values storage type of the values
   * @param batchTokens tokens of one computation ({@code --ubatch-size})
   * @param wholeWindows whether windowed layers keep the whole context ({@code --swa-full})
   */
  public record CacheLayout(
      long contextTokens,
      int slots,
      boolean unified,
      TensorType keys,
      TensorType values,
      int batchTokens,
      boolean wholeWindows) {

    /** llama-server's layout where nothing but context and slots is said. */
    public static CacheLayout plain(long contextTokens, int slots) {
      return new CacheLayout(
          contextTokens, slots, false, TensorType.F16, TensorType.F16, 512, false);
    }
  }

  /** Bytes of all tensors. */
  public static long weightBytes(GgufHeader header) {
    return header.tensors().stream().mapToLong(TensorInfo::bytes).reduce(0, Math::addExact);
  }

  /**
   * Numbers of the tensor types that this version does not know, ascending. Their tensors are
   * counted by the room that they take in the file.
   */
  public static List<Integer> unknownTypes(GgufHeader header) {
    TreeSet<Integer> unknown = new TreeSet<>();
    for (TensorInfo tensor : header.tensors()) {
      if (TensorType.of(tensor.typeId()).isEmpty()) {
        unknown.add(tensor.typeId());
      }
    }
    return List.copyOf(unknown);
  }

  /**
   * Bytes of the caches of all slots: attention's keys and values, and the state of recurrent
   * layers.
   *
   * @throws GgufRefused where the header lacks what the sum needs, or speaks of absurd sizes
   */
  public static long cacheBytes(GgufHeader header, CacheLayout layout) throws GgufRefused {
    if (WITHOUT_CACHE.contains(header.architecture())) {
      return 0;
    }
    try {
      return new Layers(header).cacheBytes(layout);
    } catch (ArithmeticException e) {
      throw new GgufRefused(header.file(), "its header gives a cache of more bytes than exist");
    }
  }

  /** The layers of one model, as far as the cache is concerned. */
  private static final class Layers {
    /** More than any model has; bounds the work that a hostile header can ask for. */
    private static final long LAYERS_MAX = 4096;

    private final GgufHeader header;
    private final String architecture;
    private final long layers;
    private final long heads;
    private final long embedding;
    private final long window;

    Layers(GgufHeader header) throws GgufRefused {
      this.header = header;
      this.architecture = header.architecture();
      this.layers = required("block_count");
      if (layers < 1 || layers > LAYERS_MAX) {
        throw new GgufRefused(header.file(), "speaks of %,d layers".formatted(layers));
      }
      this.embedding = required("embedding_length");
      this.heads = perLayer("attention.head_count", 0, 0);
      this.window =
          optional("attention.sliding_window").orElse(WINDOWS.getOrDefault(architecture, 0L));
    }

    long cacheBytes(CacheLayout layout) throws GgufRefused {
      boolean latent =
          optional("attention.key_length_mla").isPresent()
              && optional("attention.value_length_mla").isPresent();
      long total = 0;
      for (int layer = 0; layer < layers; layer++) {
        if (recurrent(layer)) {
          total = Math.addExact(total, Math.multiplyExact(stateBytes(), (long) layout.slots()));
          if (!architecture.equals("falcon-h1")) {
            continue;
          }
        }
        long kvHeads = perLayer("attention.head_count_kv", layer, heads);
        if (kvHeads == 0 || !ownCache(layer)) {
          continue;
        }
        boolean windowed = windowed(layer);
        long cells = cells(layout, windowed && !layout.wholeWindows());
        long row = layout.keys().rowBytes(Math.multiplyExact(kvHeads, length("key", windowed)));
        if (!latent) {
          long values = Math.multiplyExact(kvHeads, length("value", windowed));
          row = Math.addExact(row, layout.values().rowBytes(values));
        }
        total = Math.addExact(total, Math.multiplyExact(cells, row));
      }
      return total;
    }

    private long cells(CacheLayout layout, boolean windowed) {
      long slots = layout.slots();
      long whole =
          layout.unified()
              ? padded(Math.multiplyExact(layout.contextTokens(), slots))
              : Math.multiplyExact(slots, padded(layout.contextTokens()));
      if (!windowed) {
        return whole;
      }
      long sequence = layout.unified() ? whole : whole / slots;
      long seen =
          Math.addExact(
              Math.multiplyExact(window, layout.unified() ? slots : 1), layout.batchTokens());
      return Math.multiplyExact(padded(Math.min(sequence, seen)), layout.unified() ? 1 : slots);
    }

    private static long padded(long cells) {
      return Math.multiplyExact(Math.ceilDiv(cells, CELLS_STEP), CELLS_STEP);
    }

    /** Elements of one head's key or value. */
    private long length(String what, boolean windowed) throws GgufRefused {
      OptionalLong narrow =
          windowed ? optional("attention." + what + "_length_swa") : OptionalLong.empty();
      OptionalLong given = narrow.isPresent() ? narrow : optional("attention." + what + "_length");
      if (given.isPresent()) {
        return positive(given.getAsLong(), what + "_length");
      }
      if (heads < 1) {
        throw new GgufRefused(header.file(), "names neither heads nor the length of a key");
      }
      return embedding / heads;
    }

    private boolean windowed(int layer) {
      if (window <= 0) {
        return false;
      }
      String key = architecture + ".attention.sliding_window_pattern";
      long[] pattern = header.metadata().integers(key).orElse(new long[0]);
      if (pattern.length > 0) {
        return pattern[layer % pattern.length] != 0;
      }
      long period =
          header.metadata().integer(key).orElse(WINDOW_PERIODS.getOrDefault(architecture, 0));
      // Without a pattern llama.cpp treats the model as unwindowed, which is the larger cache.
      return period > 1 && layer % period < period - 1;
    }

    /** Whether the layer keeps keys of its own, or reads those of an earlier one. */
    private boolean ownCache(int layer) {
      if (architecture.equals("gemma3n")) {
        return layer < GEMMA3N_CACHED_LAYERS;
      }
      return layer < layers - optional("attention.shared_kv_layers").orElse(0);
    }

    private boolean recurrent(int layer) throws GgufRefused {
      if (architecture.equals("falcon-h1")) {
        return true;
      }
      long[] named =
          header
              .metadata()
              .integers(architecture + ".attention.recurrent_layers")
              .orElse(new long[0]);
      if (named.length == layers) {
        return named[layer] != 0;
      }
      Integer usual = HYBRID_PERIODS.get(architecture);
      if (usual != null) {
        long period = optional("full_attention_interval").orElse(usual);
        return period > 0 && (layer + 1) % period != 0;
      }
      boolean hasState =
          optional("ssm.state_size").isPresent()
              || optional("shortconv.l_cache").isPresent()
              || optional("wkv.head_size").isPresent();
      return hasState && perLayer("attention.head_count_kv", layer, 0) == 0;
    }

    /** One layer's recurrent state for one sequence, in 32-bit floats. */
    private long stateBytes() {
      long elements;
      OptionalLong shortConvolution = optional("shortconv.l_cache");
      OptionalLong headSize = optional("wkv.head_size");
      if (shortConvolution.isPresent()) {
        elements = Math.multiplyExact(embedding, Math.max(0, shortConvolution.getAsLong() - 1));
      } else if (headSize.isPresent()) {
        long shift = optional("token_shift_count").orElse(2);
        elements = Math.multiplyExact(embedding, Math.addExact(shift, headSize.getAsLong()));
      } else {
        long state = optional("ssm.state_size").orElse(0);
        long inner = optional("ssm.inner_size").orElse(0);
        long groups = optional("ssm.group_count").orElse(0);
        long kernel = Math.max(0, optional("ssm.conv_kernel").orElse(0) - 1);
        long channels =
            Math.addExact(inner, Math.multiplyExact(2, Math.multiplyExact(groups, state)));
        elements =
            Math.addExact(Math.multiplyExact(kernel, channels), Math.multiplyExact(state, inner));
      }
      return Math.multiplyExact(Math.max(0, elements), (long) Float.BYTES);
    }

    private OptionalLong optional(String key) {
      return header.integer(key);
    }

    private long required(String key) throws GgufRefused {
      OptionalLong value = optional(key);
      if (value.isEmpty()) {
        throw new GgufRefused(
            header.file(),
            architecture.isEmpty()
                ? "names no architecture"
                : "its header lacks " + GgufRefused.printable(architecture + "." + key));
      }
      return positive(value.getAsLong(), key);
    }

    /** A number that may stand once for all layers, or once for each. */
    private long perLayer(String key, int layer, long otherwise) throws GgufRefused {
      long[] each = header.metadata().integers(architecture + "." + key).orElse(new long[0]);
      if (each.length > 0) {
        return positive(each[Math.min(layer, each.length - 1)], key);
      }
      return positive(optional(key).orElse(otherwise), key);
    }

    private long positive(long value, String key) throws GgufRefused {
      if (value < 0) {
        throw new GgufRefused(header.file(), "has a negative %s".formatted(key));
      }
      return value;
    }
  }
}
