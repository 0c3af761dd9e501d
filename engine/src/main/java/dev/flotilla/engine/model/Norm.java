package dev.flotilla.engine.model;

/** The RMS norm (Zhang and Sennrich, 2019): {@code x / sqrt(mean(x²) + epsilon) * weight}. */
final class Norm {
  private Norm() {}

  /** Norms {@code weight.length} numbers; {@code out} may be {@code x}. */
  static void rms(float[] x, int from, float[] weight, float epsilon, float[] out, int to) {
    int count = weight.length;
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int i = from; i < from + count; i += 4) { // four chains, for the adder's latency
      s0 = Math.fma(x[i], x[i], s0);
      s1 = Math.fma(x[i + 1], x[i + 1], s1);
      s2 = Math.fma(x[i + 2], x[i + 2], s2);
      s3 = Math.fma(x[i + 3], x[i + 3], s3);
    }
    float mean = ((s0 + s1) + (s2 + s3)) / count;
    float scale = (float) (1 / Math.sqrt(mean + epsilon));
    for (int i = 0; i < count; i++) {
      out[to + i] = x[from + i] * scale * weight[i];
    }
  }
}
