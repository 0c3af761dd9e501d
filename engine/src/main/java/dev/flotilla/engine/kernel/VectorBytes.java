package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of weights of eight bits with the Vector API; what C2 needs is said in {@link
 * VectorKernels}.
 *
 * <p>A single column is multiplied in 16-bit lanes: two products fit, {@code 2 * 128 * 127 < 2^15},
 * and are then added in 32-bit lanes. Where several columns share the work of taking weights apart,
 * these become single-precision numbers, and so are the activations: a fused multiplication does
 * what two 16-bit operations do, and whole numbers below 2^24 are exact in it, in any order.
 */
final class VectorBytes {
  private static final VectorSpecies<Short> S = VectorWidth.SHORTS;
  private static final VectorSpecies<Integer> I = VectorWidth.INTS;
  private static final VectorSpecies<Float> F = VectorWidth.FLOATS;
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
  private static final int VECTOR_BYTES = S.vectorByteSize();
  private static final int LANES = F.length();

  private VectorBytes() {}

  /** Two groups at once, as {@link VectorKernels#nibblePair}. */
  static void bytePair(
      MemorySegment w,
      long firstAt,
      long secondAt,
      int blocks,
      Activations x,
      int tile,
      GroupScratch first,
      GroupScratch second,
      int part) {
    final int[] numbers = x.numbers;
    final int[] sums = x.sums;
    final boolean hasMins = first.hasMins;
    final boolean half = first.halfBlocks;
    final int vectors = half ? 8 : 16;
    int xp = x.tileStart(tile);
    int bp = xp / 32;
    int hp = xp / 16;
    long p = firstAt + (long) part * VECTOR_BYTES;
    long r = secondAt + (long) part * VECTOR_BYTES;
    int sp = part * LANES;
    FloatVector f0 = FloatVector.zero(F);
    FloatVector f1 = f0;
    FloatVector g0 = f0;
    FloatVector g1 = f0;
    for (int b = 0; b < blocks; b++, sp += 32) {
      IntVector a0 = IntVector.zero(I);
      IntVector a1 = a0;
      IntVector c0 = a0;
      IntVector c1 = a0;
      for (int j = 0; j < vectors; j++, p += 64, r += 64, xp += 2) {
        ShortVector x0 = IntVector.broadcast(I, numbers[xp]).reinterpretAsShorts();
        ShortVector x1 = IntVector.broadcast(I, numbers[xp + 1]).reinterpretAsShorts();
        ShortVector v = ShortVector.fromMemorySegment(S, w, p, LE);
        IntVector two =
            v.lanewise(VectorOperators.LSHL, 8)
                .lanewise(VectorOperators.ASHR, 8)
                .mul(x0)
                .add(v.lanewise(VectorOperators.ASHR, 8).mul(x1))
                .reinterpretAsInts();
        a0 = a0.add(two.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16));
        a1 = a1.add(two.lanewise(VectorOperators.ASHR, 16));
        v = ShortVector.fromMemorySegment(S, w, r, LE);
        two =
            v.lanewise(VectorOperators.LSHL, 8)
                .lanewise(VectorOperators.ASHR, 8)
                .mul(x0)
                .add(v.lanewise(VectorOperators.ASHR, 8).mul(x1))
                .reinterpretAsInts();
        c0 = c0.add(two.lanewise(VectorOperators.LSHL, 16).lanewise(VectorOperators.ASHR, 16));
        c1 = c1.add(two.lanewise(VectorOperators.ASHR, 16));
      }
      int block = bp + (half ? b / 2 : b);
      float d = x.scales[block];
      f0 =
          ((FloatVector) a0.convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, first.scales, sp).mul(d), f0);
      f1 =
          ((FloatVector) a1.convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, first.scales, sp + 16).mul(d), f1);
      g0 =
          ((FloatVector) c0.convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, second.scales, sp).mul(d), g0);
      g1 =
          ((FloatVector) c1.convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, second.scales, sp + 16).mul(d), g1);
      if (hasMins) {
        FloatVector scaled =
            FloatVector.broadcast(F, half ? d * sums[hp + b] : x.scaledSums[block]);
        f0 = FloatVector.fromArray(F, first.mins, sp).fma(scaled, f0);
        f1 = FloatVector.fromArray(F, first.mins, sp + 16).fma(scaled, f1);
        g0 = FloatVector.fromArray(F, second.mins, sp).fma(scaled, g0);
        g1 = FloatVector.fromArray(F, second.mins, sp + 16).fma(scaled, g1);
      }
    }
    f0.intoArray(first.out, part * LANES);
    f1.intoArray(first.out, part * LANES + 16);
    g0.intoArray(second.out, part * LANES);
    g1.intoArray(second.out, part * LANES + 16);
  }

  /** Four columns of a tile, from {@code column} on; adds to what is in {@code out}. */
  static void bytes4(
      MemorySegment w,
      long at,
      int blocks,
      Activations x,
      int tile,
      int column,
      GroupScratch group,
      int part) {
    final float[] numbers = x.whole;
    final int width = x.tileWidth[tile];
    final int vectors = group.halfBlocks ? 8 : 16;
    int xp = x.tileStart(tile) + column;
    long p = at + (long) part * VECTOR_BYTES;
    for (int b = 0; b < blocks; b++) {
      FloatVector a0 = FloatVector.zero(F);
      FloatVector a1 = a0;
      FloatVector b0 = a0;
      FloatVector b1 = a0;
      FloatVector c0 = a0;
      FloatVector c1 = a0;
      FloatVector d0 = a0;
      FloatVector d1 = a0;
      for (int j = 0; j < vectors; j++, p += 64) {
        IntVector v = ShortVector.fromMemorySegment(S, w, p, LE).reinterpretAsInts();
        IntVector u = v.lanewise(VectorOperators.LSHL, 8);
        for (int k = 0; k < 2; k++, xp += width) {
          FloatVector low =
              (FloatVector)
                  u.lanewise(VectorOperators.LSHL, 16)
                      .lanewise(VectorOperators.ASHR, 24)
                      .convert(VectorOperators.I2F, 0);
          FloatVector high =
              (FloatVector) u.lanewise(VectorOperators.ASHR, 24).convert(VectorOperators.I2F, 0);
          FloatVector n0 = FloatVector.broadcast(F, numbers[xp]);
          a0 = low.fma(n0, a0);
          a1 = high.fma(n0, a1);
          FloatVector n1 = FloatVector.broadcast(F, numbers[xp + 1]);
          b0 = low.fma(n1, b0);
          b1 = high.fma(n1, b1);
          FloatVector n2 = FloatVector.broadcast(F, numbers[xp + 2]);
          c0 = low.fma(n2, c0);
          c1 = high.fma(n2, c1);
          FloatVector n3 = FloatVector.broadcast(F, numbers[xp + 3]);
          d0 = low.fma(n3, d0);
          d1 = high.fma(n3, d1);
          u = v;
        }
      }
      int o = column * 32 + part * LANES;
      a0.intoArray(group.wholeSums, o);
      a1.intoArray(group.wholeSums, o + 16);
      b0.intoArray(group.wholeSums, o + 32);
      b1.intoArray(group.wholeSums, o + 48);
      c0.intoArray(group.wholeSums, o + 64);
      c1.intoArray(group.wholeSums, o + 80);
      d0.intoArray(group.wholeSums, o + 96);
      d1.intoArray(group.wholeSums, o + 112);
      scale(b, x, tile, column, group, part);
    }
  }

  private static void scale(
      int block, Activations x, int tile, int column, GroupScratch group, int part) {
    final float[] out = group.out;
    final boolean half = group.halfBlocks;
    final boolean hasMins = group.hasMins;
    final int width = x.tileWidth[tile];
    int sp = block * 32 + part * LANES;
    int bp = x.tileStart(tile) / 32 + (half ? block / 2 : block) * width + column;
    int hp = x.tileStart(tile) / 16 + block * width + column;
    FloatVector s0 = FloatVector.fromArray(F, group.scales, sp);
    FloatVector s1 = FloatVector.fromArray(F, group.scales, sp + 16);
    for (int i = 0, o = column * 32 + part * LANES; i < 4; i++, o += 32) {
      float d = x.scales[bp + i];
      FloatVector f0 =
          FloatVector.fromArray(F, group.wholeSums, o)
              .fma(s0.mul(d), FloatVector.fromArray(F, out, o));
      FloatVector f1 =
          FloatVector.fromArray(F, group.wholeSums, o + 16)
              .fma(s1.mul(d), FloatVector.fromArray(F, out, o + 16));
      if (hasMins) {
        FloatVector scaled =
            FloatVector.broadcast(F, half ? d * x.sums[hp + i] : x.scaledSums[bp + i]);
        f0 = FloatVector.fromArray(F, group.mins, sp).fma(scaled, f0);
        f1 = FloatVector.fromArray(F, group.mins, sp + 16).fma(scaled, f1);
      }
      f0.intoArray(out, o);
      f1.intoArray(out, o + 16);
    }
  }
}
