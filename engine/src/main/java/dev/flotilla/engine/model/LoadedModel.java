package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.LargePages;
import dev.flotilla.engine.kernel.PackedMatrix;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufRefused;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * A model's weights, repacked for the kernels in native memory, and its shape. Runners compute with
 * it; it outlives them, and frees the weights when it is closed. The file is mapped only while it
 * is loaded.
 */
public final class LoadedModel implements AutoCloseable {
  private static final float[] NO_FACTORS = {};

  private final ModelShape shape;
  private final PackedMatrix embeddings;
  private final List<LayerWeights> layers;
  private final float[] outputNorm;
  private final PackedMatrix output;
  private final float[] ropeFactors;
  private final Arena arena;

  private LoadedModel(ModelShape shape, Weights weights, Arena arena) throws ModelRefused {
    this.shape = shape;
    this.arena = arena;
    embeddings = weights.matrix("token_embd.weight", shape.vocabulary(), shape.width());
    outputNorm = weights.vector("output_norm.weight", shape.width());
    output =
        weights.has("output.weight")
            ? weights.matrix("output.weight", shape.vocabulary(), shape.width())
            : embeddings;
    ropeFactors =
        weights.has("rope_freqs.weight")
            ? weights.vector("rope_freqs.weight", shape.headSize() / 2)
            : NO_FACTORS;
    layers = new ArrayList<>();
    for (int i = 0; i < shape.layers().size(); i++) {
      layers.add(LayerWeights.load(weights, shape, i));
    }
  }

  /**
   * Reads and repacks the weights of a model file.
   *
   * @throws ModelRefused with the reason, where this engine can't compute the model
   * @throws GgufRefused where the file is no longer what its header says
   */
  @SuppressWarnings("MustBeClosedChecker") // the model closes it; where there is none, this does
  public static LoadedModel load(ModelOutline outline, Workers workers)
      throws ModelRefused, GgufRefused {
    Arena arena = Arena.ofShared();
    boolean loaded = false;
    try (TensorFiles files = new TensorFiles(outline.header(), new LargePages(arena), workers)) {
      LoadedModel model = new LoadedModel(outline.shape(), files, arena);
      files.checkAllUsed();
      loaded = true;
      return model;
    } finally {
      if (!loaded) {
        arena.close();
      }
    }
  }

  /**
   * A model of the same family, heads and types of weights, so small that a step of it takes next
   * to no time: what computes the one computes the other. Its weights mean nothing.
   */
  @SuppressWarnings("MustBeClosedChecker") // the model closes it
  public static LoadedModel miniature(ModelOutline outline) throws ModelRefused {
    Arena arena = Arena.ofShared();
    Weights weights = new MadeUpWeights(outline.header(), arena);
    return new LoadedModel(outline.shape().miniature(), weights, arena);
  }

  /** The shape of the cache, with numbers of that type. */
  public KvLayout kvLayout(KvType type) {
    return shape.kvLayout(type);
  }

  /** Tokens that there are. */
  public int vocabulary() {
    return shape.vocabulary();
  }

  /** Tokens that one sequence may have, by the model's training. */
  public int contextMax() {
    return shape.contextMax();
  }

  /** Bytes of the repacked weights. */
  public long weightBytes() {
    long bytes = embeddings.bytes() + (output == embeddings ? 0 : output.bytes());
    for (LayerWeights layer : layers) {
      bytes += layer.bytes();
    }
    return bytes;
  }

  ModelShape shape() {
    return shape;
  }

  PackedMatrix embeddings() {
    return embeddings;
  }

  LayerWeights layer(int index) {
    return layers.get(index);
  }

  float[] outputNorm() {
    return outputNorm;
  }

  PackedMatrix output() {
    return output;
  }

  /** What rotation frequencies are divided by, one for each pair; empty where nothing. */
  float[] ropeFactors() {
    return ropeFactors;
  }

  @Override
  public void close() {
    arena.close();
  }
}
