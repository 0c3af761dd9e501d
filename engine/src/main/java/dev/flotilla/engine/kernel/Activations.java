package dev.flotilla.engine.kernel;

import java.util.Arrays;

/**
 * The inputs of matrix products: some rows of the step, quantised once for all the matrices that
 * they meet.
 *
 * <p>Each 32 consecutive numbers of a row become whole numbers from -127 to 127 and one scale,
 * {@code x = dx * q}. A row is quantised by itself, so it is the same in every step. Rows are cut
 * into tiles of 8, 4 or 1 columns; in a tile the columns of one k stand together, as the kernels
 * broadcast them, each number twice in an int because kernels multiply pairs of 16-bit lanes. A
 * tile may have more columns than there are rows; what is computed for these is not used.
 *
 * <p>Filled by one region ({@link #begin}, then {@link #quantise} for each tile), read by the next.
 */
public final class Activations {
  static final int TILE_MAX = 8;

  /** Below it, so many columns cost less one by one. */
  private static final int EIGHT_FROM = 6;

  private static final int FOUR_FROM = 3;

  private final int rowsMax;
  final int[] tileFirst;
  final int[] tileWidth;
  private int tiles;
  private int rows;
  private int columns;

  /** {@code [tile][k][column]}: the quantised number in both halves. */
  final int[] numbers;

  /** {@code [tile][16 k][column]}: sums of 16 quantised numbers. */
  final int[] sums;

  /** {@code [tile][32 k][column]}: scales. */
  final float[] scales;

  /** {@code [tile][32 k][column]}: scales times sums of 32. */
  final float[] scaledSums;

  /** {@code [tile][k][column]}: the numbers as they were. */
  final float[] plain;

  /** Room for so many rows of so many numbers, a multiple of 32. */
  public Activations(int rowsMax, int columnsMax) {
    this.rowsMax = rowsMax;
    int padded = rowsMax + TILE_MAX;
    tileFirst = new int[padded];
    tileWidth = new int[padded];
    numbers = new int[Math.multiplyExact(padded, columnsMax)];
    plain = new float[numbers.length];
    sums = new int[numbers.length / 16];
    scales = new float[numbers.length / 32];
    scaledSums = new float[numbers.length / 32];
  }

  /** Cuts so many rows of so many numbers into tiles. */
  public void begin(int rowCount, int columnCount) {
    if (rowCount > rowsMax || columnCount % 32 != 0) {
      throw new IllegalArgumentException(rowCount + " rows of " + columnCount);
    }
    rows = rowCount;
    columns = columnCount;
    tiles = 0;
    for (int first = 0; first < rows; ) {
      int left = rows - first;
      int width = left >= EIGHT_FROM ? 8 : left >= FOUR_FROM ? 4 : 1;
      tileFirst[tiles] = first;
      tileWidth[tiles++] = width;
      first += width;
    }
  }

  /** Tiles of the rows. */
  public int tiles() {
    return tiles;
  }

  int rows() {
    return rows;
  }

  int columns() {
    return columns;
  }

  /** Where the tile's numbers begin; a 16th and a 32nd of it is where sums and scales do. */
  int tileStart(int tile) {
    return tileFirst[tile] * columns;
  }

  /** Quantises the rows of one tile, of which the first row of all begins at {@code from}. */
  public void quantise(int tile, float[] source, int from, int stride) {
    int width = tileWidth[tile];
    int start = tileStart(tile);
    for (int column = 0; column < width; column++) {
      int row = tileFirst[tile] + column;
      if (row < rows) {
        quantiseRow(source, from + row * stride, start, column, width);
      } else {
        clear(start, column, width);
      }
    }
  }

  private void clear(int start, int column, int width) {
    for (int k = 0; k < columns; k++) {
      numbers[start + k * width + column] = 0;
      plain[start + k * width + column] = 0;
    }
    for (int b = 0; b < columns / 32; b++) {
      int at = start / 32 + b * width + column;
      scales[at] = 0;
      scaledSums[at] = 0;
      sums[start / 16 + 2 * b * width + column] = 0;
      sums[start / 16 + (2 * b + 1) * width + column] = 0;
    }
  }

  private void quantiseRow(float[] source, int from, int start, int column, int width) {
    for (int b = 0; b < columns / 32; b++) {
      int at = from + b * 32;
      float largest = 0;
      for (int i = at; i < at + 32; i++) {
        largest = Math.max(largest, Math.abs(source[i]));
      }
      float scale = largest / 127f;
      float inverse = scale == 0 ? 0 : 1f / scale;
      int first = half(source, at, inverse, start + b * 32 * width + column, width);
      int second = half(source, at + 16, inverse, start + (b * 32 + 16) * width + column, width);
      scales[start / 32 + b * width + column] = scale;
      scaledSums[start / 32 + b * width + column] = scale * (first + second);
      sums[start / 16 + 2 * b * width + column] = first;
      sums[start / 16 + (2 * b + 1) * width + column] = second;
    }
  }

  private int half(float[] source, int from, float inverse, int to, int width) {
    int sum = 0;
    for (int i = 0; i < 16; i++) {
      float x = source[from + i];
      int bits = Float.floatToRawIntBits(Math.fma(x, inverse, Exp.ROUND));
      int number = bits - Float.floatToRawIntBits(Exp.ROUND);
      number = Math.max(-127, Math.min(127, number)); // what is no number, too
      sum += number;
      numbers[to + i * width] = (number << 16) | (number & 0xffff);
      plain[to + i * width] = x;
    }
    return sum;
  }

  @Override
  public String toString() {
    return rows + " rows in tiles of " + Arrays.toString(Arrays.copyOf(tileWidth, tiles));
  }
}
