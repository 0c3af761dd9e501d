package dev.flotilla.engine.kernel;

/** What one thread needs of one group of 32 rows while it multiplies with it. */
final class GroupScratch {
  /** Scales and minima, {@code [block][32]}. */
  final float[] scales;

  final float[] mins;

  /** The same as the matrix has them, where that is in half precision. */
  final short[] halves;

  /** Whether the group has minima, and whether a scale is for 16 numbers. */
  boolean hasMins;

  boolean halfBlocks;

  /** Products of the group with one tile, {@code [column][32]}. */
  final float[] out = new float[Activations.TILE_MAX * PackedMatrix.GROUP];

  /** Integer sums of one block, {@code [column][32]}. */
  final short[] sums = new short[Activations.TILE_MAX * PackedMatrix.GROUP];

  /** The same where they were summed in single precision. */
  final float[] wholeSums = new float[Activations.TILE_MAX * PackedMatrix.GROUP];

  GroupScratch(int columnsMax) {
    int scalesMax = columnsMax / 16 * PackedMatrix.GROUP;
    scales = new float[scalesMax];
    mins = new float[scalesMax];
    halves = new short[2 * scalesMax];
  }
}
