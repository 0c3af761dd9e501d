package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of quantised weights with the Vector API; the width is the process's, {@link
 * VectorWidth}.
 *
 * <p>Numbers of four bits times numbers of eight are multiplied and summed in 16-bit lanes, twice
 * as many as single-precision ones: {@code |sum((u - 8) * x)| <= 8 * 127 * 32 < 2^15}, so the sum
 * is right though its parts wrap, when it begins with {@code -8 * sum(x)} instead of a subtraction
 * per weight. One multiplication and one addition per pair; nothing the API has comes closer to the
 * machine's dot products.
 *
 * <p>What C2 needs: no vector crosses a call, since a helper that is not inlined boxes it; and a
 * loop body small enough for the registers. So sums of a block go through memory ({@link
 * GroupScratch#sums}) and are scaled in a loop of their own, which a store and a load per 32 k pays
 * for.
 */
final class VectorKernels {
  private static final VectorSpecies<Short> S = VectorWidth.SHORTS;
  private static final VectorSpecies<Integer> I = VectorWidth.INTS;
  private static final VectorSpecies<Float> F = VectorWidth.FLOATS;
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;

  /** Vectors of a group: each is 16-bit lanes of that many rows. */
  static final int PARTS = PackedMatrix.GROUP / S.length();

  private static final int VECTOR_BYTES = S.vectorByteSize();
  private static final int LANES = F.length();

  private VectorKernels() {}

  /**
   * Two groups at once. A step of one row streams through the weights, and from two places memory
   * brings them while the arithmetic goes on: twice as fast as one after the other.
   */
  static void nibblePair(
      MemorySegment w,
      long firstAt,
      long secondAt,
      int blocks,
      Activations x,
      int tile,
      GroupScratch first,
      GroupScratch second,
      int part) {
    final ShortVector m15 = ShortVector.broadcast(S, (short) 15);
    final int[] numbers = x.numbers;
    final int[] sums = x.sums;
    final float[] dx = x.scales;
    final float[] sx = x.scaledSums;
    final boolean hasMins = first.hasMins;
    int xp = x.tileStart(tile);
    int bp = xp / 32;
    long p = firstAt + (long) part * VECTOR_BYTES;
    long r = secondAt + (long) part * VECTOR_BYTES;
    int sp = part * LANES;
    FloatVector f0 = FloatVector.zero(F);
    FloatVector f1 = f0;
    FloatVector g0 = f0;
    FloatVector g1 = f0;
    for (int b = 0; b < blocks; b++, bp++, sp += 32) {
      int bias = -8 * (sums[2 * bp] + sums[2 * bp + 1]);
      ShortVector a = IntVector.broadcast(I, (bias << 16) | (bias & 0xffff)).reinterpretAsShorts();
      ShortVector c = a;
      for (int j = 0; j < 8; j++, p += 64, r += 64, xp += 4) {
        ShortVector v = ShortVector.fromMemorySegment(S, w, p, LE);
        ShortVector u = ShortVector.fromMemorySegment(S, w, r, LE);
        ShortVector x0 = IntVector.broadcast(I, numbers[xp]).reinterpretAsShorts();
        a = a.add(v.and(m15).mul(x0));
        c = c.add(u.and(m15).mul(x0));
        ShortVector x1 = IntVector.broadcast(I, numbers[xp + 1]).reinterpretAsShorts();
        a = a.add(v.lanewise(VectorOperators.LSHR, 4).and(m15).mul(x1));
        c = c.add(u.lanewise(VectorOperators.LSHR, 4).and(m15).mul(x1));
        ShortVector x2 = IntVector.broadcast(I, numbers[xp + 2]).reinterpretAsShorts();
        a = a.add(v.lanewise(VectorOperators.LSHR, 8).and(m15).mul(x2));
        c = c.add(u.lanewise(VectorOperators.LSHR, 8).and(m15).mul(x2));
        ShortVector x3 = IntVector.broadcast(I, numbers[xp + 3]).reinterpretAsShorts();
        a = a.add(v.lanewise(VectorOperators.LSHR, 12).mul(x3));
        c = c.add(u.lanewise(VectorOperators.LSHR, 12).mul(x3));
      }
      IntVector sum = a.reinterpretAsInts();
      f0 =
          ((FloatVector)
                  sum.lanewise(VectorOperators.LSHL, 16)
                      .lanewise(VectorOperators.ASHR, 16)
                      .convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, first.scales, sp).mul(dx[bp]), f0);
      f1 =
          ((FloatVector) sum.lanewise(VectorOperators.ASHR, 16).convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, first.scales, sp + 16).mul(dx[bp]), f1);
      sum = c.reinterpretAsInts();
      g0 =
          ((FloatVector)
                  sum.lanewise(VectorOperators.LSHL, 16)
                      .lanewise(VectorOperators.ASHR, 16)
                      .convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, second.scales, sp).mul(dx[bp]), g0);
      g1 =
          ((FloatVector) sum.lanewise(VectorOperators.ASHR, 16).convert(VectorOperators.I2F, 0))
              .fma(FloatVector.fromArray(F, second.scales, sp + 16).mul(dx[bp]), g1);
      if (hasMins) {
        FloatVector scaled = FloatVector.broadcast(F, sx[bp]);
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

  static void nibbles4(
      MemorySegment w,
      long at,
      int blocks,
      Activations x,
      int tile,
      GroupScratch scratch,
      int part) {
    final ShortVector m15 = ShortVector.broadcast(S, (short) 15);
    final int[] numbers = x.numbers;
    final short[] blockSums = scratch.sums;
    int xp = x.tileStart(tile);
    long p = at + (long) part * VECTOR_BYTES;
    VectorScaling.clear(4, scratch, part);
    for (int b = 0; b < blocks; b++) {
      ShortVector a0 = ShortVector.zero(S);
      ShortVector a1 = ShortVector.zero(S);
      ShortVector a2 = ShortVector.zero(S);
      ShortVector a3 = ShortVector.zero(S);
      for (int j = 0; j < 8; j++, p += 64) {
        ShortVector v = ShortVector.fromMemorySegment(S, w, p, LE);
        for (int t = 0; t < 4; t++, xp += 4) {
          ShortVector q = v.and(m15);
          v = v.lanewise(VectorOperators.LSHR, 4);
          a0 = a0.add(q.mul(IntVector.broadcast(I, numbers[xp]).reinterpretAsShorts()));
          a1 = a1.add(q.mul(IntVector.broadcast(I, numbers[xp + 1]).reinterpretAsShorts()));
          a2 = a2.add(q.mul(IntVector.broadcast(I, numbers[xp + 2]).reinterpretAsShorts()));
          a3 = a3.add(q.mul(IntVector.broadcast(I, numbers[xp + 3]).reinterpretAsShorts()));
        }
      }
      a0.intoArray(blockSums, 0);
      a1.intoArray(blockSums, 32);
      a2.intoArray(blockSums, 64);
      a3.intoArray(blockSums, 96);
      VectorScaling.nibbles(4, b, x, tile, scratch, part);
    }
  }

  static void nibbles8(
      MemorySegment w,
      long at,
      int blocks,
      Activations x,
      int tile,
      GroupScratch scratch,
      int part) {
    final ShortVector m15 = ShortVector.broadcast(S, (short) 15);
    final int[] numbers = x.numbers;
    final short[] blockSums = scratch.sums;
    int xp = x.tileStart(tile);
    long p = at + (long) part * VECTOR_BYTES;
    VectorScaling.clear(8, scratch, part);
    for (int b = 0; b < blocks; b++) {
      ShortVector a0 = ShortVector.zero(S);
      ShortVector a1 = ShortVector.zero(S);
      ShortVector a2 = ShortVector.zero(S);
      ShortVector a3 = ShortVector.zero(S);
      ShortVector a4 = ShortVector.zero(S);
      ShortVector a5 = ShortVector.zero(S);
      ShortVector a6 = ShortVector.zero(S);
      ShortVector a7 = ShortVector.zero(S);
      for (int j = 0; j < 8; j++, p += 64) {
        ShortVector v = ShortVector.fromMemorySegment(S, w, p, LE);
        for (int t = 0; t < 4; t++, xp += 8) {
          ShortVector q = v.and(m15);
          v = v.lanewise(VectorOperators.LSHR, 4);
          a0 = a0.add(q.mul(IntVector.broadcast(I, numbers[xp]).reinterpretAsShorts()));
          a1 = a1.add(q.mul(IntVector.broadcast(I, numbers[xp + 1]).reinterpretAsShorts()));
          a2 = a2.add(q.mul(IntVector.broadcast(I, numbers[xp + 2]).reinterpretAsShorts()));
          a3 = a3.add(q.mul(IntVector.broadcast(I, numbers[xp + 3]).reinterpretAsShorts()));
          a4 = a4.add(q.mul(IntVector.broadcast(I, numbers[xp + 4]).reinterpretAsShorts()));
          a5 = a5.add(q.mul(IntVector.broadcast(I, numbers[xp + 5]).reinterpretAsShorts()));
          a6 = a6.add(q.mul(IntVector.broadcast(I, numbers[xp + 6]).reinterpretAsShorts()));
          a7 = a7.add(q.mul(IntVector.broadcast(I, numbers[xp + 7]).reinterpretAsShorts()));
        }
      }
      a0.intoArray(blockSums, 0);
      a1.intoArray(blockSums, 32);
      a2.intoArray(blockSums, 64);
      a3.intoArray(blockSums, 96);
      a4.intoArray(blockSums, 128);
      a5.intoArray(blockSums, 160);
      a6.intoArray(blockSums, 192);
      a7.intoArray(blockSums, 224);
      VectorScaling.nibbles(8, b, x, tile, scratch, part);
    }
  }
}
