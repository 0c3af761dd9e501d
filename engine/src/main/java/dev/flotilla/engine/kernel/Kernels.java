package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;

/**
 * The loops in which the time of a step is spent. {@link ScalarKernels} is the specification,
 * {@link VectorKernels} the fast version; they agree in every bit, at every vector width.
 *
 * <p>That is so by three rules. Sums of quantised numbers are sums of integers, exact in any order.
 * Each sum of floating-point numbers has one order, that of rising index, and lives in one lane: a
 * vector holds different outputs, never parts of one. And whatever can be fused is: {@code fma} in
 * the one version is {@code fma} in the other.
 */
interface Kernels {
  /** In words, for logs. */
  String description();

  /**
   * Products of a group of 32 rows of nibbles with {@code columns} columns, 1, 4 or 8, of a tile.
   * Adds for each block of 32, in order, {@code sum((u - 8) * x) * (scale * dx)} and then {@code
   * min * (dx * sum(x))} to {@code scratch.out[column * 32 + row]}, from zero.
   */
  void nibbles(
      MemorySegment weights, long at, int blocks, Activations x, int tile, Scratch scratch);

  /**
   * The same of a group of bytes, which are two planes of nibbles: the upper four bits less 8, and
   * the lower. The tile has 1, 4 or 8 columns.
   *
   * @param half whether a scale is for 16 numbers and not for 32
   */
  void bytes(
      MemorySegment weights,
      long at,
      int blocks,
      boolean half,
      Activations x,
      int tile,
      Scratch scratch);

  /**
   * The same of a group of floating-point weights that are already in {@code scratch.panel}, as
   * {@code [k][32]}, with unquantised activations: adds {@code w * x} in order of k.
   */
  void floats(int from, int count, Activations x, int tile, Scratch scratch);

  /**
   * Scores of four queries against the 16 keys of a page: {@code out[query * 16 + token]}.
   *
   * @param keys {@code [headSize][16]}
   * @param query where the four queries begin in {@code queries}, one after another
   */
  void scores(float[] keys, int headSize, float[] queries, int query, float[] out, int at);

  /** Adds to four outputs the values of a page, each token's times its weight, tokens in order. */
  void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at);

  /**
   * One page of the online softmax for one query: {@code scores[at..at+16)} become weights, and
   * {@code sums[at..at+16)} and {@code out} are rescaled if there is a new maximum.
   *
   * @return the maximum of all pages so far
   */
  float soften(
      float[] scores, int at, float maximum, float[] sums, float[] out, int outAt, int headSize);

  /** {@code gate = gate / (1 + exp(-gate)) * up}. */
  void silu(float[] gate, float[] up, int from, int count);

  /** {@code gate = gelu(gate) * up}, by the approximation with the hyperbolic tangent. */
  void gelu(float[] gate, float[] up, int from, int count);
}
