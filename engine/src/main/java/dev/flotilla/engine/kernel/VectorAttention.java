package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Attention and the gates with the Vector API. Keys of a page lie as {@code [headSize][16 tokens]},
 * so a lane is a token's score; values as {@code [16 tokens][headSize]}, so a lane is a number of
 * the output: in neither is a sum spread over lanes.
 *
 * <p>The inner loops count the index of what they broadcast, and reach the other three by constant
 * distances: with an index for each C2 keeps them in memory and spends more on addresses than on
 * products (55 billion operations a second and thread where these do 85, of 98 that a processor
 * with 256-bit vectors has).
 */
final class VectorAttention {
  private static final VectorSpecies<Float> F = VectorWidth.FLOATS;
  private static final VectorSpecies<Integer> I = VectorWidth.INTS;
  private static final ByteOrder LE = ByteOrder.LITTLE_ENDIAN;
  private static final int LANES = F.length();

  /** Where a half's bits are in a float, three to the right of its own: 2^112 too small. */
  private static final int HALF_BITS = 0x8FFFE000;

  private static final float HALF_SCALE = 0x1p112f;
  private static final int STRETCH = PagedAttention.STRETCH;
  private static final int ROUND_BITS = Float.floatToRawIntBits(Exp.ROUND);

  private VectorAttention() {}

  /**
   * From four places in turn: the processor fetches ahead in each, and the waits for the beginnings
   * of pages, which no prefetcher foresees, are one instead of four. Sign, exponent and mantissa of
   * a half are moved to where a float has them, and the exponent's bias is made up for by a
   * multiplication.
   */
  static void widenFour(
      MemorySegment from, long a, long b, long c, long d, int pairs, int length, float[] to) {
    int page = 2 * pairs * length;
    long at = 0;
    for (int pair = 0, row = 0; pair < pairs; pair++, row += 2 * length) {
      for (int o = row; o < row + length; o += LANES, at += 4L * LANES) {
        IntVector v = IntVector.fromMemorySegment(I, from, a + at, LE);
        v.lanewise(VectorOperators.LSHL, 16)
            .lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o);
        v.lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + length);
        v = IntVector.fromMemorySegment(I, from, b + at, LE);
        v.lanewise(VectorOperators.LSHL, 16)
            .lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + page);
        v.lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + page + length);
        v = IntVector.fromMemorySegment(I, from, c + at, LE);
        v.lanewise(VectorOperators.LSHL, 16)
            .lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + 2 * page);
        v.lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + 2 * page + length);
        v = IntVector.fromMemorySegment(I, from, d + at, LE);
        v.lanewise(VectorOperators.LSHL, 16)
            .lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + 3 * page);
        v.lanewise(VectorOperators.ASHR, 3)
            .and(HALF_BITS)
            .reinterpretAsFloats()
            .mul(HALF_SCALE)
            .intoArray(to, o + 3 * page + length);
      }
    }
  }

  static void scores(
      float[] keys, int tokens, int headSize, float[] queries, int query, float[] out, int at) {
    int end = query + 4 * headSize;
    // the widest vectors take one page's tokens each, narrower ones the same page's
    int next = LANES < 16 ? LANES : 16 * headSize;
    for (int token = 0; token < tokens; token += 2 * LANES) {
      FloatVector a0 = FloatVector.zero(F);
      FloatVector b0 = a0;
      FloatVector a1 = a0;
      FloatVector b1 = a0;
      FloatVector a2 = a0;
      FloatVector b2 = a0;
      FloatVector a3 = a0;
      FloatVector b3 = a0;
      int k = token / 16 * 16 * headSize + token % 16;
      for (int q = query; q < end; q += 4, k += 16) {
        FloatVector a = FloatVector.fromArray(F, keys, k);
        FloatVector b = FloatVector.fromArray(F, keys, k + next);
        FloatVector x0 = FloatVector.broadcast(F, queries[q]);
        a0 = a.fma(x0, a0);
        b0 = b.fma(x0, b0);
        FloatVector x1 = FloatVector.broadcast(F, queries[q + 1]);
        a1 = a.fma(x1, a1);
        b1 = b.fma(x1, b1);
        FloatVector x2 = FloatVector.broadcast(F, queries[q + 2]);
        a2 = a.fma(x2, a2);
        b2 = b.fma(x2, b2);
        FloatVector x3 = FloatVector.broadcast(F, queries[q + 3]);
        a3 = a.fma(x3, a3);
        b3 = b.fma(x3, b3);
      }
      int o = at + token;
      a0.intoArray(out, o);
      b0.intoArray(out, o + LANES);
      a1.intoArray(out, o + STRETCH);
      b1.intoArray(out, o + STRETCH + LANES);
      a2.intoArray(out, o + 2 * STRETCH);
      b2.intoArray(out, o + 2 * STRETCH + LANES);
      a3.intoArray(out, o + 3 * STRETCH);
      b3.intoArray(out, o + 3 * STRETCH + LANES);
    }
  }

  static void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at) {
    int o1 = at + headSize;
    int o2 = o1 + headSize;
    int o3 = o2 + headSize;
    int end = weight + tokens;
    for (int d = 0; d < headSize; d += 2 * LANES) {
      int e = d + LANES;
      FloatVector a0 = FloatVector.fromArray(F, out, at + d);
      FloatVector b0 = FloatVector.fromArray(F, out, at + e);
      FloatVector a1 = FloatVector.fromArray(F, out, o1 + d);
      FloatVector b1 = FloatVector.fromArray(F, out, o1 + e);
      FloatVector a2 = FloatVector.fromArray(F, out, o2 + d);
      FloatVector b2 = FloatVector.fromArray(F, out, o2 + e);
      FloatVector a3 = FloatVector.fromArray(F, out, o3 + d);
      FloatVector b3 = FloatVector.fromArray(F, out, o3 + e);
      for (int t = weight, v = d; t < end; t++, v += headSize) {
        FloatVector a = FloatVector.fromArray(F, values, v);
        FloatVector b = FloatVector.fromArray(F, values, v + LANES);
        FloatVector x0 = FloatVector.broadcast(F, weights[t]);
        a0 = a.fma(x0, a0);
        b0 = b.fma(x0, b0);
        FloatVector x1 = FloatVector.broadcast(F, weights[t + STRETCH]);
        a1 = a.fma(x1, a1);
        b1 = b.fma(x1, b1);
        FloatVector x2 = FloatVector.broadcast(F, weights[t + 2 * STRETCH]);
        a2 = a.fma(x2, a2);
        b2 = b.fma(x2, b2);
        FloatVector x3 = FloatVector.broadcast(F, weights[t + 3 * STRETCH]);
        a3 = a.fma(x3, a3);
        b3 = b.fma(x3, b3);
      }
      a0.intoArray(out, at + d);
      b0.intoArray(out, at + e);
      a1.intoArray(out, o1 + d);
      b1.intoArray(out, o1 + e);
      a2.intoArray(out, o2 + d);
      b2.intoArray(out, o2 + e);
      a3.intoArray(out, o3 + d);
      b3.intoArray(out, o3 + e);
    }
  }

  static float soften(
      float[] scores,
      int at,
      int tokens,
      float maximum,
      float[] sums,
      int sumsAt,
      float[] out,
      int outAt,
      int headSize) {
    FloatVector highestOf = FloatVector.broadcast(F, maximum);
    for (int i = at; i < at + tokens; i += LANES) {
      highestOf = highestOf.max(FloatVector.fromArray(F, scores, i));
    }
    float highest = highestOf.reduceLanes(VectorOperators.MAX);
    if (highest > maximum) {
      float factor = Exp.exp(maximum - highest);
      for (int i = sumsAt; i < sumsAt + 16; i += LANES) {
        FloatVector.fromArray(F, sums, i).mul(factor).intoArray(sums, i);
      }
      for (int i = outAt; i < outAt + headSize; i += LANES) {
        FloatVector.fromArray(F, out, i).mul(factor).intoArray(out, i);
      }
    }
    FloatVector round = FloatVector.broadcast(F, Exp.ROUND);
    for (int i = 0; i < tokens; i += LANES) {
      FloatVector x = FloatVector.fromArray(F, scores, at + i).sub(highest);
      VectorMask<Float> in = x.compare(VectorOperators.GE, Exp.LOWEST);
      FloatVector t = x.min(Exp.HIGHEST);
      FloatVector w = t.fma(FloatVector.broadcast(F, Exp.LOG2E), round);
      FloatVector n = w.sub(round);
      FloatVector r = n.fma(FloatVector.broadcast(F, -Exp.LN2_HIGH), t);
      r = n.fma(FloatVector.broadcast(F, -Exp.LN2_LOW), r);
      FloatVector p = FloatVector.broadcast(F, Exp.P0).fma(r, FloatVector.broadcast(F, Exp.P1));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P2));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P3));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P4));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P5));
      p = p.fma(r.mul(r), r).add(1f);
      IntVector e = w.reinterpretAsInts().sub(ROUND_BITS).lanewise(VectorOperators.LSHL, 23);
      FloatVector weight =
          FloatVector.zero(F).blend(p.reinterpretAsInts().add(e).reinterpretAsFloats(), in);
      weight.intoArray(scores, at + i);
      int s = sumsAt + i % 16;
      FloatVector.fromArray(F, sums, s).add(weight).intoArray(sums, s);
    }
    return highest;
  }

  static void silu(float[] gate, float[] up, int from, int count) {
    FloatVector round = FloatVector.broadcast(F, Exp.ROUND);
    for (int i = from; i < from + count; i += LANES) {
      FloatVector g = FloatVector.fromArray(F, gate, i);
      FloatVector x = g.neg();
      VectorMask<Float> in = x.compare(VectorOperators.GE, Exp.LOWEST);
      FloatVector t = x.min(Exp.HIGHEST);
      FloatVector w = t.fma(FloatVector.broadcast(F, Exp.LOG2E), round);
      FloatVector n = w.sub(round);
      FloatVector r = n.fma(FloatVector.broadcast(F, -Exp.LN2_HIGH), t);
      r = n.fma(FloatVector.broadcast(F, -Exp.LN2_LOW), r);
      FloatVector p = FloatVector.broadcast(F, Exp.P0).fma(r, FloatVector.broadcast(F, Exp.P1));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P2));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P3));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P4));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P5));
      p = p.fma(r.mul(r), r).add(1f);
      IntVector e = w.reinterpretAsInts().sub(ROUND_BITS).lanewise(VectorOperators.LSHL, 23);
      FloatVector weight =
          FloatVector.zero(F).blend(p.reinterpretAsInts().add(e).reinterpretAsFloats(), in);
      g.div(weight.add(1f)).mul(FloatVector.fromArray(F, up, i)).intoArray(gate, i);
    }
  }

  static void gelu(float[] gate, float[] up, int from, int count) {
    FloatVector round = FloatVector.broadcast(F, Exp.ROUND);
    for (int i = from; i < from + count; i += LANES) {
      FloatVector g = FloatVector.fromArray(F, gate, i);
      FloatVector y =
          g.mul(g)
              .mul(g)
              .fma(
                  FloatVector.broadcast(F, ScalarKernels.GELU_CUBE),
                  g.mul(ScalarKernels.GELU_LINE));
      FloatVector x = y.neg();
      VectorMask<Float> in = x.compare(VectorOperators.GE, Exp.LOWEST);
      FloatVector t = x.min(Exp.HIGHEST);
      FloatVector w = t.fma(FloatVector.broadcast(F, Exp.LOG2E), round);
      FloatVector n = w.sub(round);
      FloatVector r = n.fma(FloatVector.broadcast(F, -Exp.LN2_HIGH), t);
      r = n.fma(FloatVector.broadcast(F, -Exp.LN2_LOW), r);
      FloatVector p = FloatVector.broadcast(F, Exp.P0).fma(r, FloatVector.broadcast(F, Exp.P1));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P2));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P3));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P4));
      p = p.fma(r, FloatVector.broadcast(F, Exp.P5));
      p = p.fma(r.mul(r), r).add(1f);
      IntVector e = w.reinterpretAsInts().sub(ROUND_BITS).lanewise(VectorOperators.LSHL, 23);
      FloatVector weight =
          FloatVector.zero(F).blend(p.reinterpretAsInts().add(e).reinterpretAsFloats(), in);
      g.div(weight.add(1f)).mul(FloatVector.fromArray(F, up, i)).intoArray(gate, i);
    }
  }
}
