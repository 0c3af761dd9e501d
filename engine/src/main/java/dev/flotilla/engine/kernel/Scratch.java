package dev.flotilla.engine.kernel;

/** What one thread needs while it computes groups of rows, or one head of some pages. */
final class Scratch {
  /** Numbers of a floating-point panel that are unpacked at once: 32 rows of so many. */
  static final int PANEL = 256;

  /** Two groups, since a single row of activations meets two at once. */
  final GroupScratch first;

  final GroupScratch second;
  final short[] panelHalves = new short[PANEL * PackedMatrix.GROUP];
  final float[] panel = new float[PANEL * PackedMatrix.GROUP];

  /** A row of activations as it is quantised, before it goes to its column of a tile. */
  final int[] numbers;

  final float[] scales;
  final float[] scaledSums;
  final int[] sums;

  /**
   * A stretch of pages: keys are {@code [page][headSize][16]}, values {@code [token][headSize]}.
   */
  final float[] keys;

  final float[] values;

  /** A page of bytes as the cache has it. */
  final byte[] pageBytes;

  final float[] pageScales;

  /**
   * Queries of one piece of attention, {@code [query / 4][headSize][4]}, and what becomes of them.
   */
  final float[] queries;

  final float[] scores;
  final float[] lanes;
  final float[] outputs;
  final float[] maxima;

  /** The same of all segments so far. */
  final float[] allOutputs;

  final float[] allLanes;
  final float[] allMaxima;

  Scratch(int columnsMax, int headSize, int queriesMax) {
    first = new GroupScratch(columnsMax);
    second = new GroupScratch(columnsMax);
    numbers = new int[columnsMax];
    scales = new float[columnsMax / 32];
    scaledSums = new float[columnsMax / 32];
    sums = new int[columnsMax / 16];
    keys = new float[PagedAttention.STRETCH * headSize];
    values = new float[PagedAttention.STRETCH * headSize];
    pageBytes = new byte[KvPages.TOKENS * headSize];
    pageScales = new float[KvPages.TOKENS * headSize / 32];
    queries = new float[queriesMax * headSize];
    outputs = new float[queriesMax * headSize];
    scores = new float[queriesMax * PagedAttention.STRETCH];
    lanes = new float[queriesMax * KvPages.TOKENS];
    maxima = new float[queriesMax];
    allOutputs = new float[queriesMax * headSize];
    allLanes = new float[queriesMax * KvPages.TOKENS];
    allMaxima = new float[queriesMax];
  }
}
