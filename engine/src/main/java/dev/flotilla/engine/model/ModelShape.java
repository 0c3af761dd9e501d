package dev.flotilla.engine.model;

import java.util.List;

/**
 * What a decoder of the common kind is made of: per layer attention and a gated feed-forward, each
 * behind an RMS norm and added to the stream.
 *
 * @param width numbers of the stream that layers add to
 * @param heads heads of queries; each {@code heads / kvHeads} of them share one of keys
 * @param feedForward numbers between the two products of the feed-forward
 * @param contextMax tokens it was trained for
 * @param queryScale what queries are multiplied by
 * @param embeddingScale what embeddings are multiplied by
 * @param gelu whether the gate is gelu and not silu
 * @param halves whether rotation pairs number i with i + n/2, and not 2i with 2i + 1
 * @param queryKeyNorm whether heads of queries and keys are normed before they are rotated
 * @param biases whether queries, keys and values have a bias
 * @param postNorms whether what a layer adds to the stream is normed first
 * @param layers what differs from layer to layer
 */
record ModelShape(
    int width,
    int heads,
    int kvHeads,
    int headSize,
    int feedForward,
    int vocabulary,
    int contextMax,
    float normEpsilon,
    float queryScale,
    float embeddingScale,
    boolean gelu,
    boolean halves,
    boolean queryKeyNorm,
    boolean biases,
    boolean postNorms,
    List<Layer> layers) {

  /** Among so many layers all kinds are: Gemma's windows repeat after six. */
  static final int LAYER_KINDS = 6;

  /** A multiple of all blocks of weights and activations. */
  private static final int SMALL = 256;

  ModelShape {
    layers = List.copyOf(layers);
  }

  /**
   * One layer.
   *
   * @param window positions that a row sees, 0 for all
   * @param ropeBase of the rotations' frequencies
   * @param ropeScale what positions are multiplied by
   */
  record Layer(int window, float ropeBase, float ropeScale) {}

  /**
   * A small one whose steps are made of the same parts: the same heads of queries to one of keys,
   * the first layers, which are of all kinds, blocks of all sizes.
   */
  ModelShape miniature() {
    int keyHeads = 1;
    while (keyHeads < kvHeads && groupHeads() * keyHeads * headSize % SMALL != 0) {
      keyHeads++;
    }
    return new ModelShape(
        Math.min(SMALL, width),
        groupHeads() * keyHeads,
        keyHeads,
        headSize,
        Math.min(SMALL, feedForward),
        Math.min(SMALL, vocabulary),
        contextMax,
        normEpsilon,
        queryScale,
        embeddingScale,
        gelu,
        halves,
        queryKeyNorm,
        biases,
        postNorms,
        layers.subList(0, Math.min(LAYER_KINDS, layers.size())));
  }

  KvLayout kvLayout(KvType type) {
    return new KvLayout(layers.size(), kvHeads, headSize, type);
  }

  int groupHeads() {
    return heads / kvHeads;
  }

  int queryWidth() {
    return heads * headSize;
  }

  int kvWidth() {
    return kvHeads * headSize;
  }
}
