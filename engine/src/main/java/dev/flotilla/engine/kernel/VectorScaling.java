package dev.flotilla.engine.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * The second half of {@link VectorKernels}' tiles: integer sums of one block, widened, scaled and
 * added to the products. A 32-bit lane of the sums holds row r and row r + 16, or r + 8 of each
 * half of the group at narrower widths; a shift to the left and back gives the first, a shift to
 * the right the second.
 */
final class VectorScaling {
  private static final VectorSpecies<Short> S = VectorWidth.SHORTS;
  private static final VectorSpecies<Integer> I = VectorWidth.INTS;
  private static final VectorSpecies<Float> F = VectorWidth.FLOATS;
  private static final int LANES = F.length();

  private VectorScaling() {}

  static void clear(int columns, GroupScratch scratch, int part) {
    FloatVector zero = FloatVector.zero(F);
    for (int i = 0, o = part * LANES; i < columns; i++, o += 32) {
      zero.intoArray(scratch.out, o);
      zero.intoArray(scratch.out, o + 16);
    }
  }

  static void nibbles(
      int columns, int block, Activations x, int tile, GroupScratch scratch, int part) {
    final float[] out = scratch.out;
    final float[] dx = x.scales;
    final float[] sx = x.scaledSums;
    final int[] sums = x.sums;
    int sp = block * 32 + part * LANES;
    int bp = x.tileStart(tile) / 32 + block * columns;
    int hp = x.tileStart(tile) / 16 + 2 * block * columns;
    FloatVector s0 = FloatVector.fromArray(F, scratch.scales, sp);
    FloatVector s1 = FloatVector.fromArray(F, scratch.scales, sp + 16);
    FloatVector m0 = FloatVector.fromArray(F, scratch.mins, sp);
    FloatVector m1 = FloatVector.fromArray(F, scratch.mins, sp + 16);
    boolean hasMins = scratch.hasMins;
    for (int i = 0, o = part * LANES; i < columns; i++, o += 32) {
      int bias = -8 * (sums[hp + i] + sums[hp + columns + i]);
      IntVector both =
          ShortVector.fromArray(S, scratch.sums, i * 32)
              .add(IntVector.broadcast(I, (bias << 16) | (bias & 0xffff)).reinterpretAsShorts())
              .reinterpretAsInts();
      float d = dx[bp + i];
      FloatVector f0 =
          ((FloatVector)
                  both.lanewise(VectorOperators.LSHL, 16)
                      .lanewise(VectorOperators.ASHR, 16)
                      .convert(VectorOperators.I2F, 0))
              .fma(s0.mul(d), FloatVector.fromArray(F, out, o));
      FloatVector f1 =
          ((FloatVector) both.lanewise(VectorOperators.ASHR, 16).convert(VectorOperators.I2F, 0))
              .fma(s1.mul(d), FloatVector.fromArray(F, out, o + 16));
      if (hasMins) {
        FloatVector scaled = FloatVector.broadcast(F, sx[bp + i]);
        f0 = m0.fma(scaled, f0);
        f1 = m1.fma(scaled, f1);
      }
      f0.intoArray(out, o);
      f1.intoArray(out, o + 16);
    }
  }
}
