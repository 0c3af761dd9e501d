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
