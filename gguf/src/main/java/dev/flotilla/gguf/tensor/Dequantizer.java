package dev.flotilla.gguf.tensor;

import dev.flotilla.gguf.TensorType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * What each storage type's bytes stand for: the executable specification that faster readers are
 * held to. One number at a time, in the order of additions and multiplications that ggml has, so
 * results are equal to the bit.
 *
 * <p>Source of the layouts: {@code ggml/src/ggml-common.h}; tests hold this to the {@code gguf}
 * package of Python.
 */
public final class Dequantizer {
  private static final ValueLayout.OfShort I16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt I32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** What the sixteen values of IQ4_NL and IQ4_XS stand for. */
  private static final byte[] UNEVEN = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };

  /** Twice what the sixteen values of MXFP4 stand for: a sign, two bits of exponent, one more. */
  private static final byte[] TINY_FLOATS = {
    0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12
  };

  private Dequantizer() {}

  /** Whether tensors of this type can be read. */
  public static boolean reads(TensorType type) {
    return switch (type) {
      case F32,
          F16,
          BF16,
          Q4_0,
          Q4_1,
          Q5_0,
          Q5_1,
          Q8_0,
          Q2_K,
          Q3_K,
          Q4_K,
          Q5_K,
          Q6_K,
          IQ4_NL,
          IQ4_XS,
          MXFP4 ->
          true;
      default -> false;
    };
  }

  /**
   * Reads numbers from the beginning of a block on.
   *
   * @param offset of the first block in {@code data}, in bytes
   * @param into takes {@code count} numbers
   * @param count a multiple of the type's {@link TensorType#blockElements}
   * @throws IllegalArgumentException for a type that can't be read, or a broken block
   */
  public static void read(
      TensorType type, MemorySegment data, long offset, float[] into, int count) {
    if (count % type.blockElements() != 0) {
      throw new IllegalArgumentException(
          "%d numbers are no whole blocks of %s".formatted(count, type));
    }
    long at = offset;
    for (int done = 0; done < count; done += type.blockElements()) {
      block(type, data, at, into, done);
      at += type.blockBytes();
    }
  }

  private static void block(TensorType type, MemorySegment data, long at, float[] into, int to) {
    switch (type) {
      case F32 -> into[to] = Float.intBitsToFloat(data.get(I32, at));
      case F16 -> into[to] = half(data, at);
      case BF16 -> into[to] = Float.intBitsToFloat(data.get(I16, at) << 16);
      case Q4_0 -> q40(data, at, into, to);
      case Q4_1 -> q41(data, at, into, to);
      case Q5_0 -> q50(data, at, into, to);
      case Q5_1 -> q51(data, at, into, to);
      case Q8_0 -> q80(data, at, into, to);
      case Q2_K -> q2k(data, at, into, to);
      case Q3_K -> q3k(data, at, into, to);
      case Q4_K -> q4k(data, at, into, to);
      case Q5_K -> q5k(data, at, into, to);
      case Q6_K -> q6k(data, at, into, to);
      case IQ4_NL -> iq4nl(data, at, into, to);
      case IQ4_XS -> iq4xs(data, at, into, to);
      case MXFP4 -> mxfp4(data, at, into, to);
      default -> throw new IllegalArgumentException(type + " can't be read");
    }
  }

  private static float half(MemorySegment data, long at) {
    return Float.float16ToFloat(data.get(I16, at));
  }

  private static int u8(MemorySegment data, long at, int offset) {
    return data.get(ValueLayout.JAVA_BYTE, at + offset) & 0xff;
  }

  /** {@code scale, 16 bytes}: of each byte the low half is in the first half of the numbers. */
  private static void q40(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    for (int i = 0; i < 16; i++) {
      int pair = u8(data, at, 2 + i);
      into[to + i] = scale * ((pair & 15) - 8);
      into[to + 16 + i] = scale * ((pair >> 4) - 8);
    }
  }

  /** {@code scale, minimum, 16 bytes}. */
  private static void q41(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    float minimum = half(data, at + 2);
    for (int i = 0; i < 16; i++) {
      int pair = u8(data, at, 4 + i);
      into[to + i] = scale * (pair & 15) + minimum;
      into[to + 16 + i] = scale * (pair >> 4) + minimum;
    }
  }

  /** {@code scale, 32 fifth bits, 16 bytes}. */
  private static void q50(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    int fifth = data.get(I32, at + 2);
    for (int i = 0; i < 16; i++) {
      int pair = u8(data, at, 6 + i);
      into[to + i] = scale * (((pair & 15) | (fifth >>> i & 1) << 4) - 16);
      into[to + 16 + i] = scale * (((pair >> 4) | (fifth >>> (i + 16) & 1) << 4) - 16);
    }
  }

  /** {@code scale, minimum, 32 fifth bits, 16 bytes}. */
  private static void q51(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    float minimum = half(data, at + 2);
    int fifth = data.get(I32, at + 4);
    for (int i = 0; i < 16; i++) {
      int pair = u8(data, at, 8 + i);
      into[to + i] = scale * ((pair & 15) | (fifth >>> i & 1) << 4) + minimum;
      into[to + 16 + i] = scale * ((pair >> 4) | (fifth >>> (i + 16) & 1) << 4) + minimum;
    }
  }

  /** {@code scale, 32 bytes}. */
  private static void q80(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    for (int i = 0; i < 32; i++) {
      into[to + i] = scale * data.get(ValueLayout.JAVA_BYTE, at + 2 + i);
    }
  }

  /**
   * {@code 16 bytes of scale and minimum, 64 bytes of quarters, scale of scales, scale of
   * minimums}: sixteen groups of 16. Each half of the block has 32 bytes, whose first quarters are
   * its first 32 numbers, whose second quarters the next 32, and so on.
   */
  private static void q2k(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at + 80);
    float minimum = half(data, at + 82);
    for (int i = 0; i < 256; i++) {
      int group = u8(data, at, i / 16);
      int quarter = u8(data, at, 16 + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
      into[to + i] = scale * (group & 15) * quarter - minimum * (group >> 4);
    }
  }

  /**
   * {@code 32 bytes of third bits, 64 bytes of quarters, 12 bytes of scales, scale of scales}. A
   * third bit that is not set takes 4 off.
   */
  private static void q3k(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at + 108);
    for (int i = 0; i < 256; i++) {
      int quarter = u8(data, at, 32 + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
      int third = u8(data, at, i % 32) >> (i / 32) & 1;
      into[to + i] =
          scale * (sixBits(data, at + 96, i / 16) - 32) * (quarter - (third == 0 ? 4 : 0));
    }
  }

  /** One of Q3_K's sixteen scales: four bits in the first eight bytes, two in the last four. */
  private static int sixBits(MemorySegment data, long at, int group) {
    int low = u8(data, at, group % 8) >> (group / 8 * 4) & 15;
    int high = u8(data, at, 8 + group % 4) >> (group / 4 * 2) & 3;
    return low | high << 4;
  }

  /** {@code scale of scales, scale of minimums, 12 bytes of both, 128 bytes}: groups of 32. */
  private static void q4k(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    float minimum = half(data, at + 2);
    for (int group = 0; group < 8; group++) {
      float groupScale = scale * groupScale(data, at + 4, group);
      float groupMinimum = minimum * groupMinimum(data, at + 4, group);
      for (int i = 0; i < 32; i++) {
        int value = u8(data, at, 16 + group / 2 * 32 + i) >> (group % 2 * 4) & 15;
        into[to + group * 32 + i] = groupScale * value - groupMinimum;
      }
    }
  }

  /** As Q4_K, with 32 bytes of fifth bits before the 128. */
  private static void q5k(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    float minimum = half(data, at + 2);
    for (int group = 0; group < 8; group++) {
      float groupScale = scale * groupScale(data, at + 4, group);
      float groupMinimum = minimum * groupMinimum(data, at + 4, group);
      for (int i = 0; i < 32; i++) {
        int low = u8(data, at, 48 + group / 2 * 32 + i) >> (group % 2 * 4) & 15;
        int fifth = u8(data, at, 16 + i) >> group & 1;
        into[to + group * 32 + i] = groupScale * (low | fifth << 4) - groupMinimum;
      }
    }
  }

  /**
   * One of eight scales of six bits in 12 bytes: of the first four all bits are in bytes 0 to 3; of
   * the others four are in the low halves of bytes 8 to 11, two at the top of bytes 0 to 3.
   */
  private static int groupScale(MemorySegment data, long at, int group) {
    return group < 4
        ? u8(data, at, group) & 63
        : (u8(data, at, 4 + group) & 15) | u8(data, at, group - 4) >> 6 << 4;
  }

  /** As {@link #groupScale}, in bytes 4 to 7 and the high halves of 8 to 11. */
  private static int groupMinimum(MemorySegment data, long at, int group) {
    return group < 4
        ? u8(data, at, 4 + group) & 63
        : u8(data, at, 4 + group) >> 4 | u8(data, at, group) >> 6 << 4;
  }

  /**
   * {@code 128 bytes of low halves, 64 bytes of quarters, 16 scales, scale of scales}. Each half of
   * the block has 64 bytes of low halves, of which the low ones are its first 64 numbers, and 32 of
   * quarters.
   */
  private static void q6k(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at + 208);
    for (int i = 0; i < 256; i++) {
      int low = u8(data, at, i / 128 * 64 + i % 64) >> (i % 128 / 64 * 4) & 15;
      int high = u8(data, at, 128 + i / 128 * 32 + i % 32) >> (i % 128 / 32 * 2) & 3;
      float groupScale = scale * data.get(ValueLayout.JAVA_BYTE, at + 192 + i / 16);
      into[to + i] = groupScale * ((low | high << 4) - 32);
    }
  }

  /** {@code scale, 16 bytes} of values whose distances grow. */
  private static void iq4nl(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    for (int i = 0; i < 16; i++) {
      int pair = u8(data, at, 2 + i);
      into[to + i] = scale * UNEVEN[pair & 15];
      into[to + 16 + i] = scale * UNEVEN[pair >> 4];
    }
  }

  /** {@code scale, 2 bytes and 4 bytes of scales, 128 bytes}: eight groups of 32. */
  private static void iq4xs(MemorySegment data, long at, float[] into, int to) {
    float scale = half(data, at);
    int high = data.get(I16, at + 2) & 0xffff;
    for (int group = 0; group < 8; group++) {
      int low = u8(data, at, 4 + group / 2) >> (group % 2 * 4) & 15;
      float groupScale = scale * ((low | (high >> (2 * group) & 3) << 4) - 32);
      for (int i = 0; i < 16; i++) {
        int pair = u8(data, at, 8 + group * 16 + i);
        into[to + group * 32 + i] = groupScale * UNEVEN[pair & 15];
        into[to + group * 32 + 16 + i] = groupScale * UNEVEN[pair >> 4];
      }
    }
  }

  /** {@code exponent, 16 bytes} of floats of four bits. */
  private static void mxfp4(MemorySegment data, long at, float[] into, int to) {
    int exponent = u8(data, at, 0);
    // half of 2^(exponent - 127), since the values are doubled; the two smallest are subnormal
    float scale =
        Float.intBitsToFloat(exponent < 2 ? 0x00200000 << exponent : (exponent - 1) << 23);
    for (int i = 0; i < 16; i++) {
      int pair = u8(data, at, 1 + i);
      into[to + i] = scale * TINY_FLOATS[pair & 15];
      into[to + 16 + i] = scale * TINY_FLOATS[pair >> 4];
    }
  }
}
