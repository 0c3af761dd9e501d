package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The specification: what each kernel computes, one number at a time. */
final class ScalarKernels implements Kernels {
  private static final int GROUP = PackedMatrix.GROUP;

  @Override
  public String description() {
    return "scalar";
  }

  @Override
  public void nibbles(
      MemorySegment weights, long at, int blocks, Activations x, int tile, GroupScratch group) {
    int width = x.tileWidth[tile];
    Arrays.fill(group.out, 0, width * GROUP, 0);
    for (int column = 0; column < width; column++) {
      for (int b = 0; b < blocks; b++) {
        for (int row = 0; row < GROUP; row++) {
          int sum = 0;
          for (int k = b * 32; k < b * 32 + 32; k++) {
            long lane = at + ((long) (k / 4) * GROUP + PackedMatrix.lane(row)) * 2;
            int u = weights.get(PackedMatrix.SHORT, lane) >> (k % 4 * 4) & 15;
            sum += (u - 8) * number(x, tile, k, column);
          }
          add(sum, b, b, row, column, x, tile, group);
        }
      }
    }
  }

  @Override
  public void nibblePair(
      MemorySegment weights,
      long firstAt,
      long secondAt,
      int blocks,
      Activations x,
      int tile,
      GroupScratch first,
      GroupScratch second) {
    nibbles(weights, firstAt, blocks, x, tile, first);
    nibbles(weights, secondAt, blocks, x, tile, second);
  }

  @Override
  public void bytes(
      MemorySegment weights, long at, int blocks, Activations x, int tile, GroupScratch group) {
    int width = x.tileWidth[tile];
    int per = group.halfBlocks ? 16 : 32;
    Arrays.fill(group.out, 0, width * GROUP, 0);
    for (int column = 0; column < width; column++) {
      for (int b = 0; b < blocks; b++) {
        for (int row = 0; row < GROUP; row++) {
          int sum = 0;
          for (int k = b * per; k < b * per + per; k++) {
            long lane = at + ((long) (k / 2) * GROUP + PackedMatrix.lane(row)) * 2;
            byte weight = (byte) (weights.get(PackedMatrix.SHORT, lane) >> (k % 2 * 8));
            sum += weight * number(x, tile, k, column);
          }
          add(sum, b, b * per / 32, row, column, x, tile, group);
        }
      }
    }
  }

  @Override
  public void bytePair(
      MemorySegment weights,
      long firstAt,
      long secondAt,
      int blocks,
      Activations x,
      int tile,
      GroupScratch first,
      GroupScratch second) {
    bytes(weights, firstAt, blocks, x, tile, first);
    bytes(weights, secondAt, blocks, x, tile, second);
  }

  private static int number(Activations x, int tile, int k, int column) {
    return x.numbers[x.tileStart(tile) + k * x.tileWidth[tile] + column] >> 16;
  }

  private static void add(
      int sum, int scale, int block, int row, int column, Activations x, int tile, GroupScratch s) {
    int width = x.tileWidth[tile];
    int at = x.tileStart(tile) / 32 + block * width + column;
    int o = column * GROUP + row;
    int w = scale * GROUP + row;
    float value = Math.fma((float) sum, s.scales[w] * x.scales[at], s.out[o]);
    s.out[o] = value;
    if (s.hasMins) {
      s.out[o] = Math.fma(s.mins[w], minFactor(x, tile, scale, block, column, s), value);
    }
  }

  /** The scaled sum of the numbers that the minimum is for: 32 of them, or 16. */
  private static float minFactor(
      Activations x, int tile, int scale, int block, int column, GroupScratch s) {
    int width = x.tileWidth[tile];
    int at = x.tileStart(tile) / 32 + block * width + column;
    return s.halfBlocks
        ? x.scales[at] * x.sums[x.tileStart(tile) / 16 + scale * width + column]
        : x.scaledSums[at];
  }

  @Override
  public void floats(float[] panel, int from, int count, Activations x, int tile, float[] out) {
    int width = x.tileWidth[tile];
    int start = x.tileStart(tile);
    for (int column = 0; column < width; column++) {
      for (int row = 0; row < GROUP; row++) {
        int o = column * GROUP + row;
        float sum = out[o];
        for (int k = 0; k < count; k++) {
          float value = x.plain[start + (from + k) * width + column];
          sum = Math.fma(panel[k * GROUP + row], value, sum);
        }
        out[o] = sum;
      }
    }
  }

  @Override
  public void quantise(
      float[] source,
      int from,
      int count,
      int block,
      int[] numbers,
      int to,
      float[] scales,
      float[] scaledSums,
      int[] sums) {
    for (int b = 0; b < count; b += block) {
      float largest = 0;
      for (int i = from + b; i < from + b + block; i++) {
        largest = Math.max(largest, Math.abs(source[i]));
      }
      float inverse = Kernels.inverse(largest);
      float scale = Kernels.scale(largest, block);
      for (int half = b; half < b + block; half += 16) {
        int sum = 0;
        for (int i = half; i < half + 16; i++) {
          int number = whole(source[from + i], inverse);
          sum += number;
          numbers[to + i] = (number << 16) | (number & 0xffff);
        }
        sums[(to + half) / 16] = sum;
      }
      for (int i = (to + b) / 32; i < (to + b + block) / 32; i++) {
        scales[i] = scale;
        int sum = sums[2 * i] + sums[2 * i + 1];
        scaledSums[i] = Kernels.scaledSum(largest, scale, block, sum);
      }
    }
  }

  private static int whole(float x, float inverse) {
    int bits = Float.floatToRawIntBits(x * inverse + Exp.ROUND);
    int number = bits - Float.floatToRawIntBits(Exp.ROUND);
    return Math.max(-127, Math.min(127, number)); // what is no number, too
  }

  @Override
  public void widenFour(
      MemorySegment from, long a, long b, long c, long d, int pairs, int length, float[] to) {
    long[] pages = {a, b, c, d};
    for (int page = 0; page < 4; page++) {
      for (int pair = 0; pair < pairs; pair++) {
        for (int i = 0; i < 2 * length; i++) {
          short half = from.get(PackedMatrix.SHORT, pages[page] + 2L * (pair * 2 * length + i));
          int row = (page * pairs + pair) * 2 + i % 2;
          to[row * length + i / 2] = Float.float16ToFloat(half);
        }
      }
    }
  }

  @Override
  public void scores(
      float[] keys, int tokens, int headSize, float[] queries, int query, float[] out, int at) {
    for (int q = 0; q < 4; q++) {
      for (int token = 0; token < tokens; token++) {
        float sum = 0;
        for (int d = 0; d < headSize; d++) {
          float key = keys[(token / 16 * headSize + d) * 16 + token % 16];
          sum = Math.fma(key, queries[query + d * 4 + q], sum);
        }
        out[at + q * PagedAttention.STRETCH + token] = sum;
      }
    }
  }

  @Override
  public void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at) {
    for (int q = 0; q < 4; q++) {
      int w = weight + q * PagedAttention.STRETCH;
      for (int d = 0; d < headSize; d++) {
        float sum = out[at + q * headSize + d];
        for (int token = 0; token < tokens; token++) {
          sum = Math.fma(values[token * headSize + d], weights[w + token], sum);
        }
        out[at + q * headSize + d] = sum;
      }
    }
  }

  @Override
  public float soften(
      float[] scores,
      int at,
      int tokens,
      float maximum,
      float[] sums,
      int sumsAt,
      float[] out,
      int outAt,
      int headSize) {
    float highest = maximum;
    for (int i = at; i < at + tokens; i++) {
      highest = Math.max(highest, scores[i]);
    }
    if (highest > maximum) {
      float factor = Exp.exp(maximum - highest);
      for (int i = sumsAt; i < sumsAt + 16; i++) {
        sums[i] *= factor;
      }
      for (int i = outAt; i < outAt + headSize; i++) {
        out[i] *= factor;
      }
    }
    for (int i = 0; i < tokens; i++) {
      scores[at + i] = Exp.exp(scores[at + i] - highest);
      sums[sumsAt + i % 16] += scores[at + i];
    }
    return highest;
  }

  @Override
  public void silu(float[] gate, float[] up, int from, int count) {
    for (int i = from; i < from + count; i++) {
      gate[i] = gate[i] / (1f + Exp.exp(-gate[i])) * up[i];
    }
  }

  @Override
  public void gelu(float[] gate, float[] up, int from, int count) {
    for (int i = from; i < from + count; i++) {
      float x = gate[i];
      // x * (1 + tanh(y)) / 2 = x / (1 + exp(-2 y))
      float y = Math.fma(x * x * x, GELU_CUBE, x * GELU_LINE);
      gate[i] = x / (1f + Exp.exp(-y)) * up[i];
    }
  }

  /** Twice the square root of 2/π, and that times 0.044715. */
  static final float GELU_LINE = 1.5957692f;

  static final float GELU_CUBE = 0.071354814f;
}
