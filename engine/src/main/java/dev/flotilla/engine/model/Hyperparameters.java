package dev.flotilla.engine.model;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorInfo;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.stream.Collectors;

/** The numbers of a header that say what a model is made of, checked as they are read. */
final class Hyperparameters {
  /** Of any dimension of a model. */
  static final int SIZE_MAX = 1 << 20;

  private final GgufHeader header;

  Hyperparameters(GgufHeader header) {
    this.header = header;
  }

  private String key(String name) {
    return header.architecture() + "." + name;
  }

  /** A size, from 1 to a million. */
  int size(String name) throws ModelRefused {
    OptionalLong value = wholeNumber(name);
    if (value.isEmpty()) {
      throw new ModelRefused("the file lacks " + key(name));
    }
    return checked(name, value.getAsLong());
  }

  int size(String name, int otherwise) throws ModelRefused {
    OptionalLong value = wholeNumber(name);
    return value.isEmpty() ? otherwise : checked(name, value.getAsLong());
  }

  private int checked(String name, long value) throws ModelRefused {
    if (value < 1 || value > SIZE_MAX) {
      throw new ModelRefused("%s is %d".formatted(key(name), value));
    }
    return (int) value;
  }

  /** A number; one for each layer where all are equal. */
  private OptionalLong wholeNumber(String name) throws ModelRefused {
    OptionalLong one = header.metadata().integer(key(name));
    Optional<long[]> each = header.metadata().integers(key(name));
    if (one.isPresent() || each.isEmpty() || each.get().length == 0) {
      return one;
    }
    for (long value : each.get()) {
      if (value != each.get()[0]) {
        throw new ModelRefused(key(name) + " differs from layer to layer");
      }
    }
    return OptionalLong.of(each.get()[0]);
  }

  float number(String name, float otherwise) throws ModelRefused {
    OptionalDouble value = header.metadata().number(key(name));
    if (value.isEmpty()) {
      return otherwise;
    }
    float number = (float) value.getAsDouble();
    if (!(number > 0 && number < 1e12f)) {
      throw new ModelRefused("%s is %s".formatted(key(name), number));
    }
    return number;
  }

  /** What positions are multiplied by before they are rotated. */
  float ropeScale() throws ModelRefused {
    String type = header.metadata().text(key("rope.scaling.type")).orElse("none");
    return switch (type) {
      case "none" -> 1f;
      case "linear" -> 1f / number("rope.scaling.factor", 1f);
      default -> throw new ModelRefused("rope scaling of type " + type + " is not computed");
    };
  }

  /** Tokens of the vocabulary: rows of the embeddings. */
  int vocabulary() throws ModelRefused {
    for (TensorInfo tensor : header.tensors()) {
      if (tensor.name().equals("token_embd.weight") && tensor.dims().size() == 2) {
        long rows = tensor.dims().get(1);
        OptionalLong tokens = header.metadata().count("tokenizer.ggml.tokens");
        if (rows > SIZE_MAX) {
          throw new ModelRefused("a vocabulary of %d tokens is not computed".formatted(rows));
        }
        if (tokens.isPresent() && tokens.getAsLong() != rows) {
          throw new ModelRefused(
              "the vocabulary has %d tokens, the embeddings have %d rows"
                  .formatted(tokens.getAsLong(), rows));
        }
        return (int) rows;
      }
    }
    throw new ModelRefused("the file lacks token_embd.weight");
  }

  /** The shape that most families share; {@code change} makes it the family's own. */
  ModelShape shape(boolean halves) throws ModelRefused {
    int width = size("embedding_length");
    int heads = size("attention.head_count");
    int headSize = size("attention.key_length", width / heads);
    ModelShape.Layer layer = new ModelShape.Layer(0, number("rope.freq_base", 10000f), ropeScale());
    ModelShape shape =
        new ModelShape(
            width,
            heads,
            size("attention.head_count_kv", heads),
            headSize,
            size("feed_forward_length"),
            vocabulary(),
            size("context_length"),
            number("attention.layer_norm_rms_epsilon", 1e-5f),
            (float) (1 / Math.sqrt(headSize)),
            1f,
            false,
            halves,
            false,
            false,
            false,
            Collections.nCopies(size("block_count"), layer));
    check(shape);
    return shape;
  }

  private void check(ModelShape shape) throws ModelRefused {
    List<String> parts = List.of("rope.dimension_count", "attention.value_length");
    for (String part : parts) {
      int size = size(part, shape.headSize());
      if (size != shape.headSize()) {
        throw new ModelRefused(
            "%s is %d beside heads of %d: not computed"
                .formatted(key(part), size, shape.headSize()));
      }
    }
    if (shape.heads() % shape.kvHeads() != 0
        || shape.headSize() % 32 != 0
        || shape.width() % 32 != 0
        || shape.feedForward() % 32 != 0) {
      throw new ModelRefused(
          "%d heads on %d, of %d numbers, width %d and %d: heads must divide, sizes be multiples of 32"
              .formatted(
                  shape.heads(),
                  shape.kvHeads(),
                  shape.headSize(),
                  shape.width(),
                  shape.feedForward()));
    }
    checkHeads(shape);
    if (!header.metadata().bool(key("attention.causal")).orElse(true)) {
      throw new ModelRefused("attention that looks ahead (attention.causal) is not computed");
    }
    if (size("expert_count", 1) > 1) {
      throw new ModelRefused("mixtures of experts are not computed");
    }
  }

  /**
   * That each layer has weights for its heads: what is made in the size of the heads before weights
   * are read, such as the cache, is then no larger than the file justifies.
   */
  private void checkHeads(ModelShape shape) throws ModelRefused {
    Map<String, List<Long>> dims =
        header.tensors().stream()
            .collect(Collectors.toMap(TensorInfo::name, TensorInfo::dims, (one, _) -> one));
    long width = shape.width();
    List<Long> queries = List.of(width, (long) shape.heads() * shape.headSize());
    List<Long> keys = List.of(width, (long) shape.kvHeads() * shape.headSize());
    for (int layer = 0; layer < shape.layers().size(); layer++) {
      checkDims(dims, "blk.%d.attn_q.weight".formatted(layer), queries);
      checkDims(dims, "blk.%d.attn_k.weight".formatted(layer), keys);
    }
  }

  private static void checkDims(Map<String, List<Long>> dims, String name, List<Long> wanted)
      throws ModelRefused {
    if (!dims.containsKey(name)) {
      throw TensorFiles.lacking(name);
    }
    if (!dims.get(name).equals(wanted)) {
      throw TensorFiles.otherDims(name, dims.get(name), wanted);
    }
  }
}
