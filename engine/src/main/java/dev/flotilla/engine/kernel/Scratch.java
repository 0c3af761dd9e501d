package dev.flotilla.engine.kernel;

/** What one thread needs while it computes one group of rows, or one head of a page. */
final class Scratch {
  /** Numbers of a floating-point panel that are unpacked at once: 32 rows of so many. */
  static final int PANEL = 256;

  /** Keys and queries of attention that one thread works on: queries are padded to fours. */
  final float[] keys;

  final float[] values;

  /** Scales and mins of one group, {@code [block][32]}. */
  final float[] scales;

  final float[] mins;

  /** Whether the group has minima, and whether a scale is for 16 numbers. */
  boolean hasMins;

  boolean halfBlocks;
  final short[] halves;
  final byte[] pageBytes;
  final short[] panelHalves = new short[PANEL * PackedMatrix.GROUP];
  final float[] panel = new float[PANEL * PackedMatrix.GROUP];

  /** Products of one group with one tile, {@code [column][32]}. */
  final float[] out = new float[Activations.TILE_MAX * PackedMatrix.GROUP];

  /** Integer sums of one block, {@code [plane and column][32]}. */
  final short[] sums = new short[2 * Activations.TILE_MAX * PackedMatrix.GROUP];

  final float[] queries;
  final float[] scores;
  final float[] lanes;
  final float[] outputs;
  final float[] maxima;

  Scratch(int columnsMax, int headSize, int queriesMax) {
    int scalesMax = Math.max(columnsMax / 16 * PackedMatrix.GROUP, 16 * headSize);
    scales = new float[scalesMax];
    mins = new float[scalesMax];
    halves = new short[scalesMax];
    keys = new float[16 * headSize];
    pageBytes = new byte[16 * headSize];
    values = new float[16 * headSize];
    queries = new float[queriesMax * headSize];
    outputs = new float[queriesMax * headSize];
    scores = new float[queriesMax * 16];
    lanes = new float[queriesMax * 16];
    maxima = new float[queriesMax];
  }
}
