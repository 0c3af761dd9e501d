package dev.flotilla.engine.kernel;

import java.util.Arrays;

/**
 * The inputs of matrix products: some rows of the step, quantised once for all the matrices that
 * they meet and that take them in the same way.
 *
 * <p>Each 32 or 256 consecutive numbers of a row become whole numbers from -127 to 127 and one
 * scale, {@code x = dx * q}: what llama.cpp makes of them for weights of the matrix's type ({@link
 * PackedMatrix#activationBlock}), so that both engines make the same errors where they have the
 * same numbers. A row is quantised by itself, so it is the same in every step. Rows are cut into
 * tiles of 8, 4 or 1 columns; in a tile the columns of one k stand together, as the kernels
 * broadcast them, each number twice in an int because kernels multiply pairs of 16-bit lanes. A
 * tile may have more columns than there are rows; what is computed for these is not used.
 *
 * <p>Filled by one region ({@link #begin}, then {@link #quantise} for each tile), read by the next.
 * What only some matrices multiply with is filled when the first of them asks, {@link #needs}.
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

  /** {@code [tile][32 k][column]}: scales times sums of 32, for minima. */
  final float[] scaledSums;

  /** {@code [tile][k][column]}: the numbers as they were; see {@link #needs}. */
  final float[] plain;

  /** {@code [tile][k][column]}: the quantised numbers in single precision. */
  final float[] whole;

  private float[] source = new float[0];
  private int stride;
  private int block;
  private boolean hasPlain;
  private boolean hasWhole;

  /** Room for so many rows of so many numbers, a multiple of 32. */
  public Activations(int rowsMax, int columnsMax) {
    this.rowsMax = rowsMax;
    int padded = rowsMax + TILE_MAX;
    tileFirst = new int[padded];
    tileWidth = new int[padded];
    numbers = new int[Math.multiplyExact(padded, columnsMax)];
    plain = new float[numbers.length];
    whole = new float[numbers.length];
    sums = new int[numbers.length / 16];
    scales = new float[numbers.length / 32];
    scaledSums = new float[numbers.length / 32];
  }

  /**
   * Cuts so many rows of so many numbers into tiles.
   *
   * @param from holds the first row at 0 and the next ones {@code rowStride} apart; it stays as it
   *     is until the products are made
   */
  void begin(float[] from, int rowCount, int columnCount, int rowStride) {
    if (rowCount > rowsMax || columnCount % 32 != 0) {
      throw new IllegalArgumentException(rowCount + " rows of " + columnCount);
    }
    source = from;
    stride = rowStride;
    block = 0;
    hasPlain = false;
    hasWhole = false;
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

  /** Numbers that share a scale, 0 while there are no quantised ones. */
  int block() {
    return block;
  }

  /** Says how many numbers shall share a scale when {@link #quantise} is called for each tile. */
  void beginBlocks(int numbersPerScale) {
    block = numbersPerScale;
    hasWhole = false;
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

  /** Quantises the rows of one tile. */
  void quantise(int tile, Kernels kernels, Scratch scratch) {
    int width = tileWidth[tile];
    int start = tileStart(tile);
    for (int column = 0; column < width; column++) {
      int row = tileFirst[tile] + column;
      if (width == 1) {
        kernels.quantise(
            source, row * stride, columns, block, numbers, start, scales, scaledSums, sums);
      } else if (row < rows) {
        kernels.quantise(
            source,
            row * stride,
            columns,
            block,
            scratch.numbers,
            0,
            scratch.scales,
            scratch.scaledSums,
            scratch.sums);
        spread(start, column, width, scratch);
      } else {
        clear(start, column, width);
      }
    }
  }

  private void spread(int start, int column, int width, Scratch scratch) {
    for (int k = 0, to = start + column; k < columns; k++, to += width) {
      numbers[to] = scratch.numbers[k];
    }
    for (int b = 0, to = start / 32 + column; b < columns / 32; b++, to += width) {
      scales[to] = scratch.scales[b];
      scaledSums[to] = scratch.scaledSums[b];
    }
    for (int b = 0, to = start / 16 + column; b < columns / 16; b++, to += width) {
      sums[to] = scratch.sums[b];
    }
  }

  private void clear(int start, int column, int width) {
    for (int k = 0, to = start + column; k < columns; k++, to += width) {
      numbers[to] = 0;
    }
    for (int b = 0, to = start / 32 + column; b < columns / 32; b++, to += width) {
      scales[to] = 0;
      scaledSums[to] = 0;
    }
    for (int b = 0, to = start / 16 + column; b < columns / 16; b++, to += width) {
      sums[to] = 0;
    }
  }

  /**
   * Whether {@link #fill} is to be called for each tile before products with matrices of that form.
   */
  boolean needs(PackedMatrix.Form form) {
    return switch (form) {
      case NIBBLES -> false;
      case BYTES -> !hasWhole && tileWidth[0] > 1;
      case FLOATS -> !hasPlain;
    };
  }

  /** Says that all tiles are filled for that form. */
  void filled(PackedMatrix.Form form) {
    hasWhole |= form == PackedMatrix.Form.BYTES;
    hasPlain |= form == PackedMatrix.Form.FLOATS;
  }

  /** Fills a tile's numbers for matrices of that form. */
  void fill(int tile, PackedMatrix.Form form) {
    int width = tileWidth[tile];
    int start = tileStart(tile);
    if (form == PackedMatrix.Form.BYTES) {
      for (int i = start; i < start + columns * width; i++) {
        whole[i] = numbers[i] >> 16;
      }
      return;
    }
    for (int column = 0; column < width; column++) {
      int row = tileFirst[tile] + column;
      int from = row * stride;
      for (int k = 0, to = start + column; k < columns; k++, to += width) {
        plain[to] = row < rows ? source[from + k] : 0;
      }
    }
  }

  @Override
  public String toString() {
    return rows + " rows in tiles of " + Arrays.toString(Arrays.copyOf(tileWidth, tiles));
  }
}
