package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** Repacks groups of rows of one matrix; each thread has its own. */
final class PackedGroup {
  private final PackedMatrix matrix;
  private final Blocks blocks;
  private final byte[] bytes;
  private final byte[] numbers;
  private final float[] scales;
  private final float[] mins;
  private final short[] lanes;

  /** All scales of the group and then all minima, as they are stored: in half precision or not. */
  private final short[] halves;

  private final float[] singles;

  PackedGroup(PackedMatrix matrix, Blocks blocks) {
    this.matrix = matrix;
    this.blocks = blocks;
    bytes = new byte[(int) matrix.type().rowBytes(matrix.columns())];
    numbers = new byte[matrix.columns()];
    scales = new float[matrix.columns() / 16];
    mins = new float[matrix.columns() / 16];
    lanes =
        new short[matrix.form() == PackedMatrix.Form.FLOATS ? 0 : (int) (matrix.quantBytes() / 2)];
    int stored = matrix.scalesPerRow() * PackedMatrix.GROUP * (matrix.hasMins() ? 2 : 1);
    halves = new short[matrix.halfScales() ? stored : 0];
    singles = new float[matrix.halfScales() ? 0 : stored];
  }

  /** Packs one group; rows behind the last are zeros, as the memory is. */
  void pack(MemorySegment source, int group) {
    long to = matrix.numbersAt(group);
    int first = group * PackedMatrix.GROUP;
    int count = Math.min(PackedMatrix.GROUP, matrix.rows() - first);
    if (matrix.form() == PackedMatrix.Form.FLOATS) {
      packFloats(source, to, first, count);
      return;
    }
    if (count < PackedMatrix.GROUP) {
      Arrays.fill(lanes, (short) 0);
      Arrays.fill(halves, (short) 0);
      Arrays.fill(singles, 0);
    }
    for (int r = 0; r < count; r++) {
      long from = (first + r) * (long) bytes.length;
      MemorySegment.copy(source, ValueLayout.JAVA_BYTE, from, bytes, 0, bytes.length);
      blocks.decode(bytes, matrix.columns(), numbers, scales, mins);
      if (matrix.form() == PackedMatrix.Form.NIBBLES) {
        packNibbles(r);
      } else {
        packBytes(r);
      }
      packScales(r);
    }
    MemorySegment.copy(lanes, 0, matrix.data(), PackedMatrix.SHORT, to, lanes.length);
    long scalesAt = matrix.scalesAt(group);
    MemorySegment.copy(halves, 0, matrix.data(), PackedMatrix.SHORT, scalesAt, halves.length);
    MemorySegment.copy(singles, 0, matrix.data(), PackedMatrix.FLOAT, scalesAt, singles.length);
  }

  private void packNibbles(int row) {
    int offset = matrix.plusEight() ? 0 : 8;
    int lane = PackedMatrix.lane(row);
    for (int k = 0; k < matrix.columns(); k += 4) {
      int low = (numbers[k] + offset) | (numbers[k + 1] + offset) << 4;
      int high = (numbers[k + 2] + offset) | (numbers[k + 3] + offset) << 4;
      lanes[k / 4 * PackedMatrix.GROUP + lane] = (short) (low | high << 8);
    }
  }

  private void packBytes(int row) {
    int lane = PackedMatrix.lane(row);
    for (int k = 0; k < matrix.columns(); k += 2) {
      lanes[k / 2 * PackedMatrix.GROUP + lane] = (short) ((numbers[k] & 255) | numbers[k + 1] << 8);
    }
  }

  private void packScales(int row) {
    int minsAt = matrix.scalesPerRow() * PackedMatrix.GROUP;
    for (int s = 0; s < matrix.scalesPerRow(); s++) {
      int index = s * PackedMatrix.GROUP + row;
      put(index, scales[s]);
      if (matrix.hasMins()) {
        boolean eight = matrix.plusEight() && !matrix.halfScales();
        put(minsAt + index, eight ? Math.fma(8f, scales[s], mins[s]) : mins[s]);
      }
    }
  }

  private void put(int index, float value) {
    if (matrix.halfScales()) {
      halves[index] = Float.floatToFloat16(value);
    } else {
      singles[index] = value;
    }
  }

  private void packFloats(MemorySegment source, long to, int first, int count) {
    int size = matrix.elementBytes();
    for (int r = 0; r < count; r++) {
      long from = (long) (first + r) * matrix.columns() * size;
      for (int k = 0; k < matrix.columns(); k++) {
        long target = to + ((long) k * PackedMatrix.GROUP + r) * size;
        if (size == 4) {
          matrix
              .data()
              .set(PackedMatrix.FLOAT, target, source.get(PackedMatrix.FLOAT, from + 4L * k));
        } else {
          matrix
              .data()
              .set(PackedMatrix.SHORT, target, source.get(PackedMatrix.SHORT, from + 2L * k));
        }
      }
    }
  }
}
