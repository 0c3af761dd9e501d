package dev.flotilla.engine.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The pages of keys and values, of all layers and blocks, in native memory.
 *
 * <p>A page holds 16 tokens of one layer: for each head its keys and then its values. Keys lie as
 * {@code [headSize][16]}, values as {@code [16][headSize]}. In half precision two rows are one of
 * pairs, {@code [headSize / 2][16][2]} and {@code [8][headSize][2]}, so that 32-bit lanes hold both
 * and are widened without moving anything across lanes. As bytes, each 32 numbers of a token have a
 * scale: for keys {@code [headSize / 32][16]}, for values {@code [16][headSize / 32]}, before the
 * numbers.
 *
 * <p>Rows are written before they are read, in regions of their own; a page of which only the first
 * tokens were written holds finite rubbish behind them, never anything infinite: numbers are
 * clamped.
 */
public final class KvPages {
  static final int TOKENS = 16;
  private static final float HALF_MAX = 65504f;
  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  /** The smallest page of memory that any machine has, and how much a thread touches at once. */
  private static final long MEMORY_PAGE = 4096;

  private static final long TOUCHED_AT_ONCE = 2L << 20;

  private final int layers;
  private final int heads;
  private final int headSize;
  private final boolean bytes;
  private final int blocks;
  private final long headBytes;
  private final MemorySegment data;

  /**
   * Pages for so many blocks, all of them zeros.
   *
   * @param bytes whether numbers are bytes with scales and not in half precision
   */
  public KvPages(int layers, int heads, int headSize, boolean bytes, int blocks, Arena arena) {
    this.layers = layers;
    this.heads = heads;
    this.headSize = headSize;
    this.bytes = bytes;
    this.blocks = blocks;
    long numbers = (long) TOKENS * headSize;
    headBytes = bytes ? numbers + numbers / 32 * 4 : numbers * 2;
    data = new LargePages(arena).allocate(layers * (long) blocks * pageBytes(), 64);
  }

  /** Pieces in which the memory can be {@linkplain #touch taken}. */
  public int pieces() {
    return Math.toIntExact(Math.ceilDiv(data.byteSize(), TOUCHED_AT_ONCE));
  }

  /**
   * Takes a piece of the memory now, so that no step has to wait for it. Any thread may, while
   * others write and read rows: what is there stays.
   */
  public void touch(int piece) {
    long from = piece * TOUCHED_AT_ONCE;
    long to = Math.min(data.byteSize(), from + TOUCHED_AT_ONCE);
    for (long at = from; at < to; at += MEMORY_PAGE) {
      INT.getAndBitwiseOr(data, at, 0);
    }
  }

  private long pageBytes() {
    return 2L * heads * headBytes;
  }

  public int blocks() {
    return blocks;
  }

  int heads() {
    return heads;
  }

  int headSize() {
    return headSize;
  }

  /** Bytes of all pages. */
  public long bytes() {
    return data.byteSize();
  }

  private long keysAt(int layer, int block, int head) {
    return ((long) layer * blocks + block) * pageBytes() + 2L * head * headBytes;
  }

  /** Writes one token's keys and values of all heads. */
  public void write(
      int layer, int block, int slot, float[] keys, int keysFrom, float[] values, int valuesFrom) {
    if (layer >= layers || block >= blocks) {
      throw new IndexOutOfBoundsException("layer %d, block %d".formatted(layer, block));
    }
    for (int head = 0; head < heads; head++) {
      long at = keysAt(layer, block, head);
      int k = keysFrom + head * headSize;
      int v = valuesFrom + head * headSize;
      if (bytes) {
        writeBytes(at, slot, keys, k, true);
        writeBytes(at + headBytes, slot, values, v, false);
      } else {
        for (int d = 0; d < headSize; d++) {
          int key = (d / 2 * TOKENS + slot) * 2 + d % 2;
          int value = (slot / 2 * headSize + d) * 2 + slot % 2;
          data.set(PackedMatrix.SHORT, at + 2L * key, half(keys[k + d]));
          data.set(PackedMatrix.SHORT, at + headBytes + 2L * value, half(values[v + d]));
        }
      }
    }
  }

  private static short half(float value) {
    return Float.floatToFloat16(Math.max(-HALF_MAX, Math.min(HALF_MAX, value)));
  }

  private void writeBytes(long at, int slot, float[] source, int from, boolean keys) {
    long numbers = at + (long) TOKENS * headSize / 32 * 4;
    for (int b = 0; b < headSize / 32; b++) {
      float largest = 0;
      for (int i = 0; i < 32; i++) {
        largest = Math.max(largest, Math.abs(source[from + b * 32 + i]));
      }
      float scale = largest / 127f;
      float inverse = scale == 0 ? 0 : 1f / scale;
      int scaleIndex = keys ? b * TOKENS + slot : slot * (headSize / 32) + b;
      data.set(PackedMatrix.FLOAT, at + 4L * scaleIndex, scale);
      for (int i = 0; i < 32; i++) {
        int d = b * 32 + i;
        int index = keys ? d * TOKENS + slot : slot * headSize + d;
        byte number = (byte) Math.round(source[from + d] * inverse);
        data.set(ValueLayout.JAVA_BYTE, numbers + index, number);
      }
    }
  }

  /**
   * Reads the first pages of one head's stretch, keys and values, in single precision.
   *
   * @param first the first page in the sequence's table, {@code count} of them, up to 4
   */
  void read(
      Kernels kernels,
      int layer,
      SequenceRows rows,
      int sequence,
      int first,
      int count,
      int head,
      Scratch scratch) {
    long a = keysAt(layer, rows.block(sequence, first), head);
    int numbers = TOKENS * headSize;
    if (bytes) {
      for (int page = 0; page < count; page++) {
        long at = keysAt(layer, rows.block(sequence, first + page), head);
        readBytes(at, scratch.keys, page * numbers, scratch, true);
        readBytes(at + headBytes, scratch.values, page * numbers, scratch, false);
      }
      return;
    }
    long b = count > 1 ? keysAt(layer, rows.block(sequence, first + 1), head) : a;
    long c = count > 2 ? keysAt(layer, rows.block(sequence, first + 2), head) : a;
    long d = count > 3 ? keysAt(layer, rows.block(sequence, first + 3), head) : a;
    kernels.widenFour(data, a, b, c, d, headSize / 2, TOKENS, scratch.keys);
    kernels.widenFour(
        data,
        a + headBytes,
        b + headBytes,
        c + headBytes,
        d + headBytes,
        TOKENS / 2,
        headSize,
        scratch.values);
  }

  private void readBytes(long at, float[] out, int to, Scratch scratch, boolean keys) {
    int count = TOKENS * headSize;
    float[] scales = scratch.pageScales;
    MemorySegment.copy(data, PackedMatrix.FLOAT, at, scales, 0, count / 32);
    MemorySegment.copy(
        data, ValueLayout.JAVA_BYTE, at + count / 32 * 4L, scratch.pageBytes, 0, count);
    if (keys) {
      for (int d = 0; d < headSize; d++) {
        int s = d / 32 * TOKENS;
        for (int t = 0; t < TOKENS; t++) {
          out[to + d * TOKENS + t] = scratch.pageBytes[d * TOKENS + t] * scales[s + t];
        }
      }
    } else {
      for (int b = 0; b < count / 32; b++) {
        float scale = scales[b];
        for (int i = b * 32; i < b * 32 + 32; i++) {
          out[to + i] = scratch.pageBytes[i] * scale;
        }
      }
    }
  }
}
