package dev.flotilla.engine.kernel;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Repacks groups of rows of one matrix; each thread has its own. */
final class PackedGroup {
  private final PackedMatrix matrix;
  private final Blocks blocks;
  private final byte[] numbers;
  private final float[] scales;
  private final float[] mins;
  private final short[] lanes;

  PackedGroup(PackedMatrix matrix, Blocks blocks) {
    this.matrix = matrix;
    this.blocks = blocks;
    numbers = new byte[matrix.columns()];
    scales = new float[matrix.columns() / 16];
    mins = new float[matrix.columns() / 16];
    lanes =
        new short[matrix.form() == PackedMatrix.Form.FLOATS ? 0 : (int) (matrix.quantBytes() / 2)];
  }

  /** Packs one group; rows behind the last are zeros, as the memory is. */
  void pack(MemorySegment source, int group) {
    long to = group * matrix.groupBytes();
    int first = group * PackedMatrix.GROUP;
    int count = Math.min(PackedMatrix.GROUP, matrix.rows() - first);
    if (matrix.form() == PackedMatrix.Form.FLOATS) {
      packFloats(source, to, first, count);
      return;
    }
    Arrays.fill(lanes, (short) 0);
    for (int r = 0; r < count; r++) {
      blocks.decode(source, first + r, matrix.columns(), numbers, scales, mins);
      if (matrix.form() == PackedMatrix.Form.NIBBLES) {
        packNibbles(r);
      } else {
        packBytes(r);
      }
      packScales(to, r);
    }
    MemorySegment.copy(lanes, 0, matrix.data(), PackedMatrix.SHORT, to, lanes.length);
  }

  private void packNibbles(int row) {
    int offset = matrix.plusEight() ? 0 : 8;
    int lane = PackedMatrix.lane(row);
    for (int k = 0; k < matrix.columns(); k += 4) {
      int four = 0;
      for (int i = 0; i < 4; i++) {
        four |= (numbers[k + i] + offset) << (4 * i);
      }
      lanes[k / 4 * PackedMatrix.GROUP + lane] = (short) four;
    }
  }

  private void packBytes(int row) {
    int lane = PackedMatrix.lane(row);
    for (int k = 0; k < matrix.columns(); k += 2) {
      lanes[k / 2 * PackedMatrix.GROUP + lane] = (short) ((numbers[k] & 255) | numbers[k + 1] << 8);
    }
  }

  private void packScales(long to, int row) {
    long from = to + matrix.quantBytes();
    for (int s = 0; s < matrix.scalesPerRow(); s++) {
      long index = (long) s * PackedMatrix.GROUP + row;
      float min = mins[s];
      if (matrix.plusEight() && !matrix.halfScales()) {
        min = Math.fma(8f, scales[s], min);
      }
      put(from, index, scales[s]);
      if (matrix.hasMins()) {
        put(from + matrix.scaleBytes(), index, min);
      }
    }
  }

  private void put(long from, long index, float value) {
    if (matrix.halfScales()) {
      matrix.data().set(PackedMatrix.SHORT, from + 2 * index, Float.floatToFloat16(value));
    } else {
      matrix.data().set(PackedMatrix.FLOAT, from + 4 * index, value);
    }
  }

  private void packFloats(MemorySegment source, long to, int first, int count) {
    int bytes = matrix.elementBytes();
    for (int r = 0; r < count; r++) {
      long from = (long) (first + r) * matrix.columns() * bytes;
      for (int k = 0; k < matrix.columns(); k++) {
        long target = to + ((long) k * PackedMatrix.GROUP + r) * bytes;
        if (bytes == 4) {
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
