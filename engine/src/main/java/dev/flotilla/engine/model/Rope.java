package dev.flotilla.engine.model;

/**
 * Rotary positions (Su et al., 2021): pair i of a head is turned by {@code position *
 * base^(-2i/n)}. The sines of a step's rows are computed once, for all layers of one base.
 */
final class Rope {
  private final int headSize;
  private final boolean halves;
  private final double[] frequencies;
  private final float[] cosines;
  private final float[] sines;

  /**
   * @param factors what frequencies are divided by; empty for nothing
   */
  Rope(ModelShape shape, ModelShape.Layer layer, float[] factors, int rowsMax) {
    headSize = shape.headSize();
    halves = shape.halves();
    frequencies = new double[headSize / 2];
    for (int i = 0; i < frequencies.length; i++) {
      double frequency = Math.pow(layer.ropeBase(), -2.0 * i / headSize) * layer.ropeScale();
      frequencies[i] = factors.length == 0 ? frequency : frequency / factors[i];
    }
    cosines = new float[rowsMax * frequencies.length];
    sines = new float[rowsMax * frequencies.length];
  }

  /** Prepares one row. */
  void position(int row, int position) {
    int at = row * frequencies.length;
    for (int i = 0; i < frequencies.length; i++) {
      double angle = position * frequencies[i];
      cosines[at + i] = (float) Math.cos(angle);
      sines[at + i] = (float) Math.sin(angle);
    }
  }

  /** Turns one head of a prepared row, and multiplies it. */
  void turn(int row, float[] x, int from, float scale) {
    int pairs = headSize / 2;
    int at = row * pairs;
    int step = halves ? 1 : 2;
    int apart = halves ? pairs : 1;
    for (int i = 0; i < pairs; i++) {
      int first = from + i * step;
      float a = x[first];
      float b = x[first + apart];
      x[first] = (a * cosines[at + i] - b * sines[at + i]) * scale;
      x[first + apart] = (a * sines[at + i] + b * cosines[at + i]) * scale;
    }
  }
}
