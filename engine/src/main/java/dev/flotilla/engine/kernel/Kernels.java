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
   * Products of a group of 32 rows of nibbles with a tile of 4 or 8 columns. Adds for each block of
   * 32, in order, {@code sum((u - 8) * x) * (scale * dx)} and then {@code min} times their {@link
   * #scaledSum} to {@code group.out[column * 32 + row]}, from zero.
   */
  void nibbles(
      MemorySegment weights, long at, int blocks, Activations x, int tile, GroupScratch group);

  /** The same of two groups, which may be one, with a tile of one column. */
  void nibblePair(
      MemorySegment weights,
      long firstAt,
      long secondAt,
      int blocks,
      Activations x,
      int tile,
      GroupScratch first,
      GroupScratch second);

  /** Products of a group of bytes with a tile of 4 or 8 columns, as those of nibbles. */
  void bytes(
      MemorySegment weights, long at, int blocks, Activations x, int tile, GroupScratch group);

  /** The same of two groups, which may be one, with a tile of one column. */
  void bytePair(
      MemorySegment weights,
      long firstAt,
      long secondAt,
      int blocks,
      Activations x,
      int tile,
      GroupScratch first,
      GroupScratch second);

  /**
   * Products of a group of floating-point weights that are already in {@code panel}, as {@code
   * [k][32]}, with unquantised activations: adds {@code w * x} in order of k.
   */
  void floats(float[] panel, int from, int count, Activations x, int tile, float[] out);

  /**
   * Quantises a row: {@code x = scale * number}, with whole numbers from -127 to 127.
   *
   * @param count of the row, a multiple of {@code block}
   * @param block numbers that share a scale, 32 or 256; see {@link #scale}
   * @param numbers from {@code to} on, each in both halves of an int
   * @param scales one for each 32, from {@code to / 32} on
   * @param scaledSums of each 32 numbers, from {@code to / 32} on; see {@link #scaledSum}
   * @param sums of each 16 numbers, from {@code to / 16} on
   */
  void quantise(
      float[] source,
      int from,
      int count,
      int block,
      int[] numbers,
      int to,
      float[] scales,
      float[] scaledSums,
      int[] sums);

  /** What numbers of a block are multiplied with before they are rounded to whole ones. */
  static float inverse(float largest) {
    return largest == 0 ? 0 : 127f / largest;
  }

  /**
   * The scale of a block of activations, as llama.cpp has it: of 32 numbers in half precision
   * (Q8_0, Q8_1), of 256 in single (Q8_K; there the largest number's sign is the scale's, which no
   * product shows). What is too large for half precision stays as it is.
   *
   * <p>Source: {@code quantize_row_q8_*} in {@code ggml/src/ggml-cpu/arch/x86/quants.c} and {@code
   * ggml/src/ggml-quants.c}.
   */
  static float scale(float largest, int block) {
    if (block == PackedMatrix.WIDE_BLOCK) {
      return largest == 0 ? 0 : 1f / inverse(largest);
    }
    return half(largest / 127f);
  }

  /**
   * What a minimum is multiplied with: the sum of 32 numbers times their scale, in half precision
   * of the scale that was not rounded (Q8_1), or in single where blocks have 256 numbers.
   */
  static float scaledSum(float largest, float scale, int block, int sum) {
    return block == PackedMatrix.WIDE_BLOCK ? scale * sum : half(largest / 127f * sum);
  }

  private static float half(float x) {
    float half = Float.float16ToFloat(Float.floatToFloat16(x));
    return Float.isInfinite(half) ? x : half;
  }

  /**
   * Widens numbers in half precision, none of them infinite, of four pages: at each of the four
   * places there are {@code pairs} rows of {@code length} pairs, which become two rows of {@code
   * length} numbers, the first of each pair and the second.
   *
   * @param length a multiple of 16
   * @param to the pages one after another
   */
  void widenFour(
      MemorySegment from, long a, long b, long c, long d, int pairs, int length, float[] to);

  /**
   * Scores of four queries against a stretch of keys: {@code out[at + query * STRETCH + token]}.
   *
   * @param keys {@code [page][headSize][16]}
   * @param tokens of the stretch, a multiple of 32
   * @param query where the four queries begin in {@code queries}, {@code [headSize][4]}
   */
  void scores(
      float[] keys, int tokens, int headSize, float[] queries, int query, float[] out, int at);

  /** Adds to four outputs the values of a stretch, each token's times its weight, in order. */
  void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at);

  /**
   * A stretch of the online softmax for one query: {@code scores[at..at+tokens)} become weights,
   * and {@code sums[sumsAt..sumsAt+16)} and {@code out} are rescaled if there is a new maximum.
   *
   * @return the maximum of all stretches so far
   */
  float soften(
      float[] scores,
      int at,
      int tokens,
      float maximum,
      float[] sums,
      int sumsAt,
      float[] out,
      int outAt,
      int headSize);

  /** {@code gate = gate / (1 + exp(-gate)) * up}. */
  void silu(float[] gate, float[] up, int from, int count);

  /** {@code gate = gelu(gate) * up}, by the approximation with the hyperbolic tangent. */
  void gelu(float[] gate, float[] up, int from, int count);
}
