package dev.flotilla.engine.kernel;

/**
 * The exponential function that all kernels share: {@code 2^n * p(r)}, n whole, |r| at most ln 2 /
 * 2, p the polynomial of Cephes' {@code expf}; relative error below 2^-22. Below {@link #LOWEST} it
 * is 0, above {@link #HIGHEST} it stays where it is.
 */
final class Exp {
  static final float LOWEST = -87f;
  static final float HIGHEST = 88f;
  static final float LOG2E = 1.442695f;

  /** 1.5 * 2^23: adding it leaves the nearest whole number in the low bits. */
  static final float ROUND = 12582912f;

  static final float LN2_HIGH = 0.6933594f;
  static final float LN2_LOW = -2.1219444E-4f;
  static final float P0 = 1.9875691E-4f;
  static final float P1 = 0.0013981999f;
  static final float P2 = 0.008333452f;
  static final float P3 = 0.041665796f;
  static final float P4 = 0.16666666f;
  static final float P5 = 0.5f;

  private Exp() {}

  static float exp(float argument) {
    if (!(argument >= LOWEST)) {
      return 0;
    }
    float x = Math.min(argument, HIGHEST);
    float rounded = Math.fma(x, LOG2E, ROUND);
    float n = rounded - ROUND;
    float r = Math.fma(n, -LN2_HIGH, x);
    r = Math.fma(n, -LN2_LOW, r);
    float p = Math.fma(P0, r, P1);
    p = Math.fma(p, r, P2);
    p = Math.fma(p, r, P3);
    p = Math.fma(p, r, P4);
    p = Math.fma(p, r, P5);
    p = Math.fma(p, r * r, r) + 1f;
    int exponent = (Float.floatToRawIntBits(rounded) - Float.floatToRawIntBits(ROUND)) << 23;
    return Float.intBitsToFloat(Float.floatToRawIntBits(p) + exponent);
  }
}
