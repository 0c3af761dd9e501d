package dev.flotilla.engine.kernel;

import dev.flotilla.gguf.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A matrix of weights as the kernels read it: groups of {@value #GROUP} rows, interleaved, so that
 * a vector holds the same k of different rows.
 *
 * <p>There are three forms. {@link Form#NIBBLES} for types of four bits with a scale per 32: a
 * 16-bit lane holds four consecutive k of one row. {@link Form#BYTES} for every other quantised
 * type, since each is, exactly, a whole number of eight bits times a scale, with at most a minimum
 * added: a lane holds two consecutive k. {@link Form#FLOATS} for the rest. In a group of 16-bit
 * lanes row r and row r + 16 are neighbours: the halves of one 32-bit lane, which widening takes
 * apart with shifts alone. The layout is the same for all vector widths.
 *
 * <p>A group of nibbles is all its scales {@code [block][32]}, then all its minima, then {@code
 * [block of 32][8][32 lanes]}: the order in which a step reads it, so that the processor fetches
 * ahead over all of it. Scales that the file has in half precision stay so, others, products of
 * two, are in single precision. Rows are padded to a whole group with zeros.
 */
public final class PackedMatrix {
  static final int GROUP = 32;

  /** Activations that share a scale where weights come in blocks of 256, and where they don't. */
  static final int WIDE_BLOCK = 256;

  static final int BLOCK = 32;

  /** In all bytes of a number it is a small one, in single and in half precision. */
  private static final byte MADE_UP = 0x2c;

  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  enum Form {
    NIBBLES,
    BYTES,
    FLOATS
  }

  private final TensorType type;
  private final int rows;
  private final int columns;
  private final Form form;
  private final boolean mins;
  private final boolean halfBlocks;
  private final boolean halfScales;
  private final boolean plusEight;
  private final MemorySegment data;

  private PackedMatrix(TensorType type, int rows, int columns, SegmentAllocator memory) {
    this.type = type;
    this.rows = rows;
    this.columns = columns;
    form =
        switch (type) {
          case F32, F16, BF16 -> Form.FLOATS;
          case Q4_0, Q4_1, Q4_K -> Form.NIBBLES;
          default -> Form.BYTES;
        };
    plusEight = type == TensorType.Q4_1 || type == TensorType.Q4_K;
    mins =
        switch (type) {
          case Q4_1, Q5_1, Q4_K, Q5_K, Q2_K -> true;
          default -> false;
        };
    halfBlocks =
        switch (type) {
          case Q2_K, Q3_K, Q6_K -> true;
          default -> false;
        };
    halfScales =
        switch (type) {
          case Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL -> true;
          default -> false;
        };
    data = memory.allocate(groups() * groupBytes(), 64);
  }

  /**
   * Repacks a matrix.
   *
   * @param source its rows, one after another, as the file has them
   * @param columns numbers in a row, a multiple of 32 and of the type's block
   * @param memory where it goes, zeros
   */
  public static PackedMatrix pack(
      TensorType type,
      int rows,
      int columns,
      MemorySegment source,
      SegmentAllocator memory,
      Workers workers) {
    PackedMatrix matrix = new PackedMatrix(type, rows, columns, memory);
    Blocks blocks = Blocks.of(type);
    workers.run(worker -> {
      PackedGroup packer = new PackedGroup(matrix, blocks);
      for (int group = workers.claim(); group < matrix.groups(); group = workers.claim()) {
        packer.pack(source, group);
      }
    });
    return matrix;
  }

  /** A matrix whose weights mean nothing; none is zero. */
  public static PackedMatrix madeUp(
      TensorType type, int rows, int columns, SegmentAllocator memory) {
    PackedMatrix matrix = new PackedMatrix(type, rows, columns, memory);
    matrix.data.fill(MADE_UP);
    return matrix;
  }

  /** Whether weights of this type can be computed with. */
  public static boolean supports(TensorType type) {
    return Blocks.supports(type);
  }

  public int rows() {
    return rows;
  }

  public int columns() {
    return columns;
  }

  /** Bytes that a matrix takes when it is packed, which may be more than it takes in the file. */
  public static long bytes(TensorType type, int rows, int columns) {
    PackedMatrix matrix = new PackedMatrix(type, rows, columns, (_, _) -> MemorySegment.NULL);
    return matrix.groups() * matrix.groupBytes();
  }

  /** Bytes that it takes. */
  public long bytes() {
    return data.byteSize();
  }

  TensorType type() {
    return type;
  }

  Form form() {
    return form;
  }

  boolean hasMins() {
    return mins;
  }

  boolean halfBlocks() {
    return halfBlocks;
  }

  boolean halfScales() {
    return halfScales;
  }

  /** Whether numbers are stored as they are, 0 to 15, and 8 times the scale goes to the minimum. */
  boolean plusEight() {
    return plusEight;
  }

  MemorySegment data() {
    return data;
  }

  int groups() {
    return Math.ceilDiv(rows, GROUP);
  }

  /** Groups by twos, the last perhaps alone. */
  int groupPairs() {
    return Math.ceilDiv(groups(), 2);
  }

  /**
   * Activations that share a scale when they are multiplied with this matrix, as many as in
   * llama.cpp; 0 where they are not quantised.
   */
  int activationBlock() {
    return switch (type) {
      case F32, F16, BF16 -> 0;
      case Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_XS -> WIDE_BLOCK;
      default -> BLOCK;
    };
  }

  /** Numbers to a scale. */
  int perScale() {
    return halfBlocks ? 16 : 32;
  }

  int scalesPerRow() {
    return columns / perScale();
  }

  int elementBytes() {
    return type == TensorType.F32 ? 4 : 2;
  }

  long quantBytes() {
    return switch (form) {
      case NIBBLES -> (long) columns * GROUP / 2;
      case BYTES -> (long) columns * GROUP;
      case FLOATS -> (long) columns * GROUP * elementBytes();
    };
  }

  long scaleBytes() {
    return form == Form.FLOATS ? 0 : (long) scalesPerRow() * GROUP * (halfScales ? 2 : 4);
  }

  long groupBytes() {
    return scalesAllBytes() + Math.ceilDiv(quantBytes(), 64L) * 64L;
  }

  /** Scales and minima of a group, in whole lines of the processor's caches. */
  private long scalesAllBytes() {
    return Math.ceilDiv(scaleBytes() * (mins ? 2 : 1), 64L) * 64L;
  }

  /** Where a group's scales are, and its minima after them. */
  long scalesAt(int group) {
    return group * groupBytes();
  }

  /** Where a group's numbers are. */
  long numbersAt(int group) {
    return group * groupBytes() + scalesAllBytes();
  }

  /** The 16-bit lane of a row of a group. */
  static int lane(int row) {
    return row < 16 ? 2 * row : 2 * (row - 16) + 1;
  }

  /** The packed value at a row and column, for one row's lookup: as the kernels would have it. */
  public void row(int row, float[] out, int at) {
    if (row < 0 || row >= rows) {
      throw new IndexOutOfBoundsException("row %d of %d".formatted(row, rows));
    }
    long group = numbersAt(row / GROUP);
    int r = row % GROUP;
    for (int k = 0; k < columns; k++) {
      out[at + k] =
          form == Form.FLOATS
              ? decoded(group + ((long) k * GROUP + r) * elementBytes())
              : quantised(group, r, k);
    }
  }

  private float quantised(long group, int row, int k) {
    long scaleAt = group - scalesAllBytes();
    long index = (long) (k / perScale()) * GROUP + row;
    float scale = scale(scaleAt, index);
    float min = mins ? scale(scaleAt + scaleBytes(), index) : 0;
    if (form == Form.BYTES) {
      return Math.fma(scale, (float) wholeByte(group, row, k), min);
    }
    int nibble = nibble(group, row, k);
    // minima in single precision have the eight of plusEight in them, halves don't
    return plusEight && halfScales
        ? Math.fma(scale, (float) nibble, min)
        : Math.fma(scale, (float) (nibble - 8), min);
  }

  private float scale(long from, long index) {
    return halfScales
        ? Float.float16ToFloat(data.get(SHORT, from + 2 * index))
        : data.get(FLOAT, from + 4 * index);
  }

  /** The whole number at a row and column of a group of bytes. */
  int wholeByte(long group, int row, int k) {
    return (byte)
        (data.get(SHORT, group + ((long) (k / 2) * GROUP + lane(row)) * 2) >> (k % 2 * 8));
  }

  /** The nibble at a row and column of a group of nibbles, 0 to 15. */
  int nibble(long group, int row, int k) {
    return (data.get(SHORT, group + ((long) (k / 4) * GROUP + lane(row)) * 2) >> (k % 4 * 4)) & 15;
  }

  /** A floating-point number of the matrix's type. */
  float decoded(long at) {
    return switch (type) {
      case F32 -> data.get(FLOAT, at);
      case F16 -> Float.float16ToFloat(data.get(SHORT, at));
      default -> Float.intBitsToFloat(data.get(SHORT, at) << 16);
    };
  }

  /** Writes the group's scales, and minima, in single precision. */
  void unpackScales(int group, GroupScratch scratch) {
    scratch.hasMins = mins;
    scratch.halfBlocks = halfBlocks;
    long from = scalesAt(group);
    int count = scalesPerRow() * GROUP;
    if (halfScales) {
      MemorySegment.copy(data, SHORT, from, scratch.halves, 0, mins ? 2 * count : count);
      toFloats(scratch.halves, 0, scratch.scales, 0, count);
      if (mins) {
        toFloats(scratch.halves, count, scratch.mins, 0, count);
      }
    } else {
      MemorySegment.copy(data, FLOAT, from, scratch.scales, 0, count);
      if (mins) {
        MemorySegment.copy(data, FLOAT, from + scaleBytes(), scratch.mins, 0, count);
      }
    }
    if (plusEight && halfScales) {
      addEight(scratch.scales, scratch.mins, count);
    }
  }

  /** Writes the weights of {@code count} columns from {@code k} on as {@code [k][32]}. */
  void unpackPanel(long group, int k, int count, Scratch scratch) {
    long from = group + (long) k * GROUP * elementBytes();
    int numbers = count * GROUP;
    switch (type) {
      case F32 -> MemorySegment.copy(data, FLOAT, from, scratch.panel, 0, numbers);
      case F16 -> {
        MemorySegment.copy(data, SHORT, from, scratch.panelHalves, 0, numbers);
        toFloats(scratch.panelHalves, 0, scratch.panel, 0, numbers);
      }
      default -> {
        MemorySegment.copy(data, SHORT, from, scratch.panelHalves, 0, numbers);
        for (int i = 0; i < numbers; i++) {
          scratch.panel[i] = Float.intBitsToFloat(scratch.panelHalves[i] << 16);
        }
      }
    }
  }

  /** A loop that the compiler turns into vector instructions. */
  static void toFloats(short[] halves, int from, float[] out, int to, int count) {
    for (int i = 0; i < count; i++) {
      out[to + i] = Float.float16ToFloat(halves[from + i]);
    }
  }

  private static void addEight(float[] scales, float[] mins, int count) {
    for (int i = 0; i < count; i++) {
      mins[i] = Math.fma(8f, scales[i], mins[i]);
    }
  }
}
