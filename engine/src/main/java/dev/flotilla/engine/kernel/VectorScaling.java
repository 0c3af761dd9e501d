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

  static void clear(int columns, Scratch scratch, int part) {
    FloatVector zero = FloatVector.zero(F);
    for (int i = 0, o = part * LANES; i < columns; i++, o += 32) {
      zero.intoArray(scratch.out, o);
      zero.intoArray(scratch.out, o + 16);
    }
  }

  static void nibbles(int columns, int block, Activations x, int tile, Scratch scratch, int part) {
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

  static void bytes(
      int columns,
      int block,
      int vectors,
      Activations x,
      int tile,
      int first,
      Scratch scratch,
      int part) {
    final float[] out = scratch.out;
    final float[] dx = x.scales;
    final int[] sums = x.sums;
    boolean half = vectors == 4;
    int width = x.tileWidth[tile];
    int sp = block * 32 + part * LANES;
    int bp = x.tileStart(tile) / 32 + (half ? block / 2 : block) * width + first;
    int hp = x.tileStart(tile) / 16 + (half ? block : 2 * block) * width + first;
    FloatVector s0 = FloatVector.fromArray(F, scratch.scales, sp);
    FloatVector s1 = FloatVector.fromArray(F, scratch.scales, sp + 16);
    FloatVector m0 = FloatVector.fromArray(F, scratch.mins, sp);
    FloatVector m1 = FloatVector.fromArray(F, scratch.mins, sp + 16);
    boolean hasMins = scratch.hasMins;
    for (int i = 0, o = first * 32 + part * LANES; i < columns; i++, o += 32) {
      int sum = half ? sums[hp + i] : sums[hp + i] + sums[hp + width + i];
      int below = -8 * sum;
      ShortVector bias =
          IntVector.broadcast(I, (below << 16) | (below & 0xffff)).reinterpretAsShorts();
      IntVector low = ShortVector.fromArray(S, scratch.sums, i * 64).add(bias).reinterpretAsInts();
      IntVector high =
          ShortVector.fromArray(S, scratch.sums, i * 64 + 32).add(bias).reinterpretAsInts();
      IntVector eight = IntVector.broadcast(I, 8 * sum);
      IntVector first32 =
          low.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 16)
              .add(
                  high.lanewise(VectorOperators.LSHL, 16)
                      .lanewise(VectorOperators.ASHR, 16)
                      .lanewise(VectorOperators.LSHL, 4))
              .add(eight);
      IntVector second32 =
          low.lanewise(VectorOperators.ASHR, 16)
              .add(high.lanewise(VectorOperators.ASHR, 16).lanewise(VectorOperators.LSHL, 4))
              .add(eight);
      float d = dx[bp + i];
      FloatVector f0 =
          ((FloatVector) first32.convert(VectorOperators.I2F, 0))
              .fma(s0.mul(d), FloatVector.fromArray(F, out, o));
      FloatVector f1 =
          ((FloatVector) second32.convert(VectorOperators.I2F, 0))
              .fma(s1.mul(d), FloatVector.fromArray(F, out, o + 16));
      if (hasMins) {
        FloatVector scaled = FloatVector.broadcast(F, half ? d * sum : x.scaledSums[bp + i]);
        f0 = m0.fma(scaled, f0);
        f1 = m1.fma(scaled, f1);
      }
      f0.intoArray(out, o);
      f1.intoArray(out, o + 16);
    }
  }
}
