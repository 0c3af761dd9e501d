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
      MemorySegment weights, long at, int blocks, Activations x, int tile, Scratch scratch) {
    for (int part = 0; part < VectorKernels.PARTS; part++) {
      switch (x.tileWidth[tile]) {
        case 1 -> VectorKernels.nibbles1(weights, at, blocks, x, tile, scratch, part);
        case 4 -> VectorKernels.nibbles4(weights, at, blocks, x, tile, scratch, part);
        default -> VectorKernels.nibbles8(weights, at, blocks, x, tile, scratch, part);
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
    int vectors = half ? 4 : 8;
    int width = x.tileWidth[tile];
    for (int part = 0; part < VectorKernels.PARTS; part++) {
      VectorScaling.clear(width, scratch, part);
      if (width == 1) {
        VectorKernels.bytes1(weights, at, blocks, vectors, x, tile, 0, scratch, part);
      } else {
        for (int first = 0; first < width; first += 4) {
          VectorKernels.bytes4(weights, at, blocks, vectors, x, tile, first, scratch, part);
        }
      }
    }
  }

  @Override
  public void floats(int from, int count, Activations x, int tile, Scratch scratch) {
    int width = x.tileWidth[tile];
    int start = x.tileStart(tile) + from * width;
    if (width == 1) {
      VectorAttention.floats1(scratch.panel, count, x.plain, start, 1, scratch.out, 0);
    } else {
      for (int first = 0; first < width; first += 4) {
        VectorAttention.floats4(
            scratch.panel, count, x.plain, start + first, width, scratch.out, first * 32);
      }
    }
  }

  @Override
  public void scores(float[] keys, int headSize, float[] queries, int query, float[] out, int at) {
    VectorAttention.scores(keys, headSize, queries, query, out, at);
  }

  @Override
  public void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at) {
    VectorAttention.weigh(values, tokens, headSize, weights, weight, out, at);
  }

  @Override
  public float soften(
      float[] scores, int at, float maximum, float[] sums, float[] out, int outAt, int headSize) {
    return VectorAttention.soften(scores, at, maximum, sums, out, outAt, headSize);
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
