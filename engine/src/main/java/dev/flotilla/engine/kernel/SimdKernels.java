package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;

/** {@link Kernels} with the Vector API, in the width of {@link VectorWidth}. */
final class SimdKernels implements Kernels {
  @Override
  public String description() {
    return "Vector API, " + VectorWidth.bits() + " bits";
  }

  @Override
  public void nibbles(
      MemorySegment weights, long at, int blocks, Activations x, int tile, GroupScratch group) {
    for (int part = 0; part < VectorKernels.PARTS; part++) {
      if (x.tileWidth[tile] == 4) {
        VectorKernels.nibbles4(weights, at, blocks, x, tile, group, part);
      } else {
        VectorKernels.nibbles8(weights, at, blocks, x, tile, group, part);
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
    for (int part = 0; part < VectorKernels.PARTS; part++) {
      VectorKernels.nibblePair(weights, firstAt, secondAt, blocks, x, tile, first, second, part);
    }
  }

  @Override
  public void bytes(
      MemorySegment weights, long at, int blocks, Activations x, int tile, GroupScratch group) {
    for (int part = 0; part < VectorKernels.PARTS; part++) {
      VectorScaling.clear(x.tileWidth[tile], group, part);
      for (int column = 0; column < x.tileWidth[tile]; column += 4) {
        VectorBytes.bytes4(weights, at, blocks, x, tile, column, group, part);
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
    for (int part = 0; part < VectorKernels.PARTS; part++) {
      VectorBytes.bytePair(weights, firstAt, secondAt, blocks, x, tile, first, second, part);
    }
  }

  @Override
  public void floats(float[] panel, int from, int count, Activations x, int tile, float[] out) {
    int width = x.tileWidth[tile];
    int start = x.tileStart(tile) + from * width;
    if (width == 1) {
      VectorFloats.floats1(panel, count, x.plain, start, 1, out, 0);
    } else {
      for (int first = 0; first < width; first += 4) {
        VectorFloats.floats4(panel, count, x.plain, start + first, width, out, first * 32);
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
    VectorFloats.quantise(source, from, count, block, numbers, to, scales, scaledSums, sums);
  }

  @Override
  public void widenFour(
      MemorySegment from, long a, long b, long c, long d, int pairs, int length, float[] to) {
    VectorAttention.widenFour(from, a, b, c, d, pairs, length, to);
  }

  @Override
  public void scores(
      float[] keys, int tokens, int headSize, float[] queries, int query, float[] out, int at) {
    VectorAttention.scores(keys, tokens, headSize, queries, query, out, at);
  }

  @Override
  public void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at) {
    VectorAttention.weigh(values, tokens, headSize, weights, weight, out, at);
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
    return VectorAttention.soften(scores, at, tokens, maximum, sums, sumsAt, out, outAt, headSize);
  }

  @Override
  public void silu(float[] gate, float[] up, int from, int count) {
    VectorAttention.silu(gate, up, from, count);
  }

  @Override
  public void gelu(float[] gate, float[] up, int from, int count) {
    VectorAttention.gelu(gate, up, from, count);
  }
}
