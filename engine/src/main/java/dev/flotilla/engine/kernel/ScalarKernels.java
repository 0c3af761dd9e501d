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
      MemorySegment weights, long at, int blocks, Activations x, int tile, Scratch scratch) {
    int width = x.tileWidth[tile];
    Arrays.fill(scratch.out, 0, width * GROUP, 0);
    for (int column = 0; column < width; column++) {
      for (int b = 0; b < blocks; b++) {
        for (int row = 0; row < GROUP; row++) {
          int sum = 0;
          for (int k = b * 32; k < b * 32 + 32; k++) {
            long lane = at + ((long) (k / 4) * GROUP + PackedMatrix.lane(row)) * 2;
            int u = weights.get(PackedMatrix.SHORT, lane) >> (k % 4 * 4) & 15;
            sum += (u - 8) * number(x, tile, k, column);
          }
          add(sum, b, b, row, column, x, tile, scratch);
        }
      }
    }
  }

  @Override
  public void bytes(
      MemorySegment weights,
      long at,
      int blocks,
      boolean half,
      Activations x,
      int tile,
      Scratch scratch) {
    int width = x.tileWidth[tile];
    int per = half ? 16 : 32;
    Arrays.fill(scratch.out, 0, width * GROUP, 0);
    for (int column = 0; column < width; column++) {
      for (int b = 0; b < blocks; b++) {
        for (int row = 0; row < GROUP; row++) {
          int sum = 0;
          for (int k = b * per; k < b * per + per; k++) {
            long lane = at + ((k / 32 * 16L + k % 32 / 4) * GROUP + PackedMatrix.lane(row)) * 2;
            int shift = k % 4 * 4;
            int low = weights.get(PackedMatrix.SHORT, lane) >> shift & 15;
            int high = weights.get(PackedMatrix.SHORT, lane + 16L * GROUP) >> shift & 15;
            sum += ((high - 8) * 16 + low) * number(x, tile, k, column);
          }
          add(sum, b, b * per / 32, row, column, x, tile, scratch);
        }
      }
    }
  }

  private static int number(Activations x, int tile, int k, int column) {
    return x.numbers[x.tileStart(tile) + k * x.tileWidth[tile] + column] >> 16;
  }

  private static void add(
      int sum, int scale, int block, int row, int column, Activations x, int tile, Scratch s) {
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
      Activations x, int tile, int scale, int block, int column, Scratch s) {
    int width = x.tileWidth[tile];
    int at = x.tileStart(tile) / 32 + block * width + column;
    return s.halfBlocks
        ? x.scales[at] * x.sums[x.tileStart(tile) / 16 + scale * width + column]
        : x.scaledSums[at];
  }

  @Override
  public void floats(int from, int count, Activations x, int tile, Scratch scratch) {
    int width = x.tileWidth[tile];
    int start = x.tileStart(tile);
    for (int column = 0; column < width; column++) {
      for (int row = 0; row < GROUP; row++) {
        int o = column * GROUP + row;
        float sum = scratch.out[o];
        for (int k = 0; k < count; k++) {
          float value = x.plain[start + (from + k) * width + column];
          sum = Math.fma(scratch.panel[k * GROUP + row], value, sum);
        }
        scratch.out[o] = sum;
      }
    }
  }

  @Override
  public void scores(float[] keys, int headSize, float[] queries, int query, float[] out, int at) {
    for (int q = 0; q < 4; q++) {
      for (int token = 0; token < 16; token++) {
        float sum = 0;
        for (int d = 0; d < headSize; d++) {
          sum = Math.fma(keys[d * 16 + token], queries[query + q * headSize + d], sum);
        }
        out[at + q * 16 + token] = sum;
      }
    }
  }

  @Override
  public void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at) {
    for (int q = 0; q < 4; q++) {
      for (int d = 0; d < headSize; d++) {
        float sum = out[at + q * headSize + d];
        for (int token = 0; token < tokens; token++) {
          sum = Math.fma(values[token * headSize + d], weights[weight + q * 16 + token], sum);
        }
        out[at + q * headSize + d] = sum;
      }
    }
  }

  @Override
  public float soften(
      float[] scores, int at, float maximum, float[] sums, float[] out, int outAt, int headSize) {
    float highest = maximum;
    for (int i = at; i < at + 16; i++) {
      highest = Math.max(highest, scores[i]);
    }
    if (highest > maximum) {
      float factor = Exp.exp(maximum - highest);
      for (int i = at; i < at + 16; i++) {
        sums[i] *= factor;
      }
      for (int i = outAt; i < outAt + headSize; i++) {
        out[i] *= factor;
      }
    }
    for (int i = at; i < at + 16; i++) {
      scores[i] = Exp.exp(scores[i] - highest);
      sums[i] += scores[i];
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
