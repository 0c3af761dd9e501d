package dev.flotilla.engine.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/** Products of unquantised weights, and quantisation, with the Vector API. */
final class VectorFloats {
  private static final VectorSpecies<Float> F = VectorWidth.FLOATS;
  private static final int LANES = F.length();
  private static final int ROUND_BITS = Float.floatToRawIntBits(Exp.ROUND);

  private VectorFloats() {}

  static void quantise(
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
      FloatVector most = FloatVector.zero(F);
      for (int i = from + b; i < from + b + block; i += LANES) {
        most = most.max(FloatVector.fromArray(F, source, i).abs());
      }
      float largest = most.reduceLanes(VectorOperators.MAX);
      float inverse = Kernels.inverse(largest);
      for (int half = b; half < b + block; half += 16) {
        IntVector sum = IntVector.zero(VectorWidth.INTS);
        for (int i = half; i < half + 16; i += LANES) {
          IntVector number =
              FloatVector.fromArray(F, source, from + i)
                  .mul(inverse)
                  .add(Exp.ROUND)
                  .reinterpretAsInts()
                  .sub(ROUND_BITS)
                  .min(127)
                  .max(-127);
          sum = sum.add(number);
          number
              .lanewise(VectorOperators.LSHL, 16)
              .or(number.and(0xffff))
              .intoArray(numbers, to + i);
        }
        sums[(to + half) / 16] = sum.reduceLanes(VectorOperators.ADD);
      }
      float scale = Kernels.scale(largest, block);
      for (int i = (to + b) / 32; i < (to + b + block) / 32; i++) {
        scales[i] = scale;
        int sum = sums[2 * i] + sums[2 * i + 1];
        scaledSums[i] = Kernels.scaledSum(largest, scale, block, sum);
      }
    }
  }

  /** One column of a panel of unquantised weights. */
  static void floats1(
      float[] panel, int count, float[] x, int from, int width, float[] out, int at) {
    for (int part = 0; part < 32; part += 2 * LANES) {
      FloatVector a0 = FloatVector.fromArray(F, out, at + part);
      FloatVector a1 = FloatVector.fromArray(F, out, at + part + LANES);
      for (int k = 0, p = part, xp = from; k < count; k++, p += 32, xp += width) {
        FloatVector value = FloatVector.broadcast(F, x[xp]);
        a0 = FloatVector.fromArray(F, panel, p).fma(value, a0);
        a1 = FloatVector.fromArray(F, panel, p + LANES).fma(value, a1);
      }
      a0.intoArray(out, at + part);
      a1.intoArray(out, at + part + LANES);
    }
  }

  /** Four columns of it. */
  static void floats4(
      float[] panel, int count, float[] x, int from, int width, float[] out, int at) {
    for (int part = 0; part < 32; part += 2 * LANES) {
      int o = at + part;
      FloatVector a0 = FloatVector.fromArray(F, out, o);
      FloatVector b0 = FloatVector.fromArray(F, out, o + LANES);
      FloatVector a1 = FloatVector.fromArray(F, out, o + 32);
      FloatVector b1 = FloatVector.fromArray(F, out, o + 32 + LANES);
      FloatVector a2 = FloatVector.fromArray(F, out, o + 64);
      FloatVector b2 = FloatVector.fromArray(F, out, o + 64 + LANES);
      FloatVector a3 = FloatVector.fromArray(F, out, o + 96);
      FloatVector b3 = FloatVector.fromArray(F, out, o + 96 + LANES);
      for (int k = 0, p = part, xp = from; k < count; k++, p += 32, xp += width) {
        FloatVector a = FloatVector.fromArray(F, panel, p);
        FloatVector b = FloatVector.fromArray(F, panel, p + LANES);
        FloatVector x0 = FloatVector.broadcast(F, x[xp]);
        a0 = a.fma(x0, a0);
        b0 = b.fma(x0, b0);
        FloatVector x1 = FloatVector.broadcast(F, x[xp + 1]);
        a1 = a.fma(x1, a1);
        b1 = b.fma(x1, b1);
        FloatVector x2 = FloatVector.broadcast(F, x[xp + 2]);
        a2 = a.fma(x2, a2);
        b2 = b.fma(x2, b2);
        FloatVector x3 = FloatVector.broadcast(F, x[xp + 3]);
        a3 = a.fma(x3, a3);
        b3 = b.fma(x3, b3);
      }
      a0.intoArray(out, o);
      b0.intoArray(out, o + LANES);
      a1.intoArray(out, o + 32);
      b1.intoArray(out, o + 32 + LANES);
      a2.intoArray(out, o + 64);
      b2.intoArray(out, o + 64 + LANES);
      a3.intoArray(out, o + 96);
      b3.intoArray(out, o + 96 + LANES);
    }
  }
}
