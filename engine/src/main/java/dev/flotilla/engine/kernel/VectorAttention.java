package dev.flotilla.engine.kernel;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorMask;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Attention, the gates and unquantised products with the Vector API. Keys of a page lie as {@code
 * [headSize][16 tokens]}, so a lane is a token's score; values as {@code [16 tokens][headSize]}, so
 * a lane is a number of the output: in neither is a sum spread over lanes.
 */
final class VectorAttention {
  private static final VectorSpecies<Float> F = VectorWidth.FLOATS;
  private static final int LANES = F.length();
  private static final int ROUND_BITS = Float.floatToRawIntBits(Exp.ROUND);

  private VectorAttention() {}

  static void scores(float[] keys, int headSize, float[] queries, int query, float[] out, int at) {
    for (int part = 0; part < 16; part += LANES) {
      FloatVector a0 = FloatVector.zero(F);
      FloatVector a1 = a0;
      FloatVector a2 = a0;
      FloatVector a3 = a0;
      int q1 = query + headSize;
      int q2 = q1 + headSize;
      int q3 = q2 + headSize;
      for (int d = 0, k = part; d < headSize; d++, k += 16) {
        FloatVector key = FloatVector.fromArray(F, keys, k);
        a0 = key.fma(FloatVector.broadcast(F, queries[query + d]), a0);
        a1 = key.fma(FloatVector.broadcast(F, queries[q1 + d]), a1);
        a2 = key.fma(FloatVector.broadcast(F, queries[q2 + d]), a2);
        a3 = key.fma(FloatVector.broadcast(F, queries[q3 + d]), a3);
      }
      a0.intoArray(out, at + part);
      a1.intoArray(out, at + 16 + part);
      a2.intoArray(out, at + 32 + part);
      a3.intoArray(out, at + 48 + part);
    }
  }

  static void weigh(
      float[] values, int tokens, int headSize, float[] weights, int weight, float[] out, int at) {
    int o1 = at + headSize;
    int o2 = o1 + headSize;
    int o3 = o2 + headSize;
    for (int d = 0; d < headSize; d += LANES) {
      FloatVector a0 = FloatVector.fromArray(F, out, at + d);
      FloatVector a1 = FloatVector.fromArray(F, out, o1 + d);
      FloatVector a2 = FloatVector.fromArray(F, out, o2 + d);
      FloatVector a3 = FloatVector.fromArray(F, out, o3 + d);
      for (int t = 0, v = d; t < tokens; t++, v += headSize) {
        FloatVector value = FloatVector.fromArray(F, values, v);
        a0 = value.fma(FloatVector.broadcast(F, weights[weight + t]), a0);
        a1 = value.fma(FloatVector.broadcast(F, weights[weight + 16 + t]), a1);
        a2 = value.fma(FloatVector.broadcast(F, weights[weight + 32 + t]), a2);
        a3 = value.fma(FloatVector.broadcast(F, weights[weight + 48 + t]), a3);
      }
      a0.intoArray(out, at + d);
      a1.intoArray(out, o1 + d);
      a2.intoArray(out, o2 + d);
      a3.intoArray(out, o3 + d);
    }
  }

  static float soften(
      float[] scores, int at, float maximum, float[] sums, float[] out, int outAt, int headSize) {
    FloatVector highestOf = FloatVector.broadcast(F, maximum);
    for (int i = at; i < at + 16; i += LANES) {
      highestOf = highestOf.max(FloatVector.fromArray(F, scores, i));
    }
    float highest = highestOf.reduceLanes(VectorOperators.MAX);
    if (highest > maximum) {
      float factor = Exp.exp(maximum - highest);
      for (int i = at; i < at + 16; i += LANES) {
        FloatVector.fromArray(F, sums, i).mul(factor).intoArray(sums, i);
      }
      for (int i = outAt; i < outAt + headSize; i += LANES) {
        FloatVector.fromArray(F, out, i).mul(factor).intoArray(out, i);
      }
    }
    FloatVector round = FloatVector.broadcast(F, Exp.ROUND);
    for (int i = at; i < at + 16; i += LANES) {
      FloatVector x = FloatVector.fromArray(F, scores, i).sub(highest);
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
      weight.intoArray(scores, i);
      FloatVector.fromArray(F, sums, i).add(weight).intoArray(sums, i);
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
