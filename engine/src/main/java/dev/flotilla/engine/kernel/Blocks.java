package dev.flotilla.engine.kernel;

import dev.flotilla.gguf.TensorType;

/**
 * Takes a quantised row apart, exactly: whole numbers from -128 to 127, and for each 32 of them (16
 * in Q2_K, Q3_K and Q6_K) a scale and a minimum, {@code value = scale * number + min}.
 *
 * <p>Rows come as arrays: before the compilers have been here, which is while a model is loaded, a
 * segment's numbers cost twenty times as much as an array's.
 *
 * <p>Source of the layouts: {@code ggml/src/ggml-common.h} and {@code dequantize_row_*} in {@code
 * ggml/src/ggml-quants.c}.
 */
final class Blocks {
  private static final byte[] IQ4 = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113
  };
  private static final byte[] MXFP4 = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

  /** Takes one block apart: numbers from {@code at}, scales and minima from {@code sub}. */
  @FunctionalInterface
  private interface Decoder {
    void decode(byte[] s, int from, byte[] numbers, int at, float[] scales, float[] mins, int sub);
  }

  private final TensorType type;
  private final Decoder decoder;
  private final int scalesPerBlock;

  private Blocks(TensorType type, Decoder decoder, int scalesPerBlock) {
    this.type = type;
    this.decoder = decoder;
    this.scalesPerBlock = scalesPerBlock;
  }

  static boolean supports(TensorType type) {
    return switch (type) {
      case F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K -> true;
      case IQ4_NL, IQ4_XS, MXFP4 -> true;
      default -> false;
    };
  }

  static Blocks of(TensorType type) {
    return switch (type) {
      case F32, F16, BF16 -> new Blocks(type, (s, f, n, a, d, m, b) -> {}, 0);
      case Q4_0 -> new Blocks(type, Blocks::q40, 1);
      case Q4_1 -> new Blocks(type, Blocks::q41, 1);
      case Q5_0 -> new Blocks(type, Blocks::q50, 1);
      case Q5_1 -> new Blocks(type, Blocks::q51, 1);
      case Q8_0 -> new Blocks(type, Blocks::q80, 1);
      case Q2_K -> new Blocks(type, Blocks::q2k, 16);
      case Q3_K -> new Blocks(type, Blocks::q3k, 16);
      case Q4_K -> new Blocks(type, Blocks::q4k, 8);
      case Q5_K -> new Blocks(type, Blocks::q5k, 8);
      case Q6_K -> new Blocks(type, Blocks::q6k, 16);
      case IQ4_NL -> new Blocks(type, Blocks::iq4nl, 1);
      case IQ4_XS -> new Blocks(type, Blocks::iq4xs, 8);
      case MXFP4 -> new Blocks(type, Blocks::mxfp4, 1);
      default -> throw new IllegalArgumentException("weights of type " + type);
    };
  }

  /** Takes the first {@code columns} numbers of a row apart. */
  void decode(byte[] row, int columns, byte[] numbers, float[] scales, float[] mins) {
    int from = 0;
    int sub = 0;
    for (int at = 0; at < columns; at += type.blockElements()) {
      decoder.decode(row, from, numbers, at, scales, mins, sub);
      from += type.blockBytes();
      sub += scalesPerBlock;
    }
  }

  private static int u8(byte[] s, int at) {
    return s[at] & 0xff;
  }

  private static int u16(byte[] s, int at) {
    return u8(s, at) | u8(s, at + 1) << 8;
  }

  private static float half(byte[] s, int at) {
    return Float.float16ToFloat((short) u16(s, at));
  }

  private static int i32(byte[] s, int at) {
    return u16(s, at) | u16(s, at + 2) << 16;
  }

  private static void q40(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    d[sub] = half(s, from);
    for (int i = 0; i < 16; i++) {
      int two = u8(s, from + 2 + i);
      n[at + i] = (byte) ((two & 15) - 8);
      n[at + 16 + i] = (byte) ((two >> 4) - 8);
    }
  }

  private static void q41(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    d[sub] = half(s, from);
    m[sub] = half(s, from + 2);
    for (int i = 0; i < 16; i++) {
      int two = u8(s, from + 4 + i);
      n[at + i] = (byte) (two & 15);
      n[at + 16 + i] = (byte) (two >> 4);
    }
  }

  private static void q50(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    d[sub] = half(s, from);
    fives(s, from + 2, n, at, 16);
  }

  private static void q51(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    d[sub] = half(s, from);
    m[sub] = half(s, from + 2);
    fives(s, from + 4, n, at, 0);
  }

  private static void fives(byte[] s, int from, byte[] n, int at, int zero) {
    int fifth = i32(s, from);
    for (int i = 0; i < 16; i++) {
      int two = u8(s, from + 4 + i);
      n[at + i] = (byte) (((two & 15) | ((fifth >>> i) & 1) << 4) - zero);
      n[at + 16 + i] = (byte) (((two >> 4) | ((fifth >>> (i + 16)) & 1) << 4) - zero);
    }
  }

  private static void q80(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    d[sub] = half(s, from);
    System.arraycopy(s, from + 2, n, at, 32);
  }

  private static void q2k(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    float scale = half(s, from + 80);
    float min = half(s, from + 82);
    for (int b = 0; b < 16; b++) {
      int both = u8(s, from + b);
      d[sub + b] = scale * (both & 15);
      m[sub + b] = -(min * (both >> 4));
      int quants = from + 16 + b / 8 * 32 + (b & 1) * 16;
      for (int i = 0; i < 16; i++) {
        n[at + b * 16 + i] = (byte) ((u8(s, quants + i) >> (b % 8 / 2 * 2)) & 3);
      }
    }
  }

  private static void q3k(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    float scale = half(s, from + 108);
    for (int b = 0; b < 16; b++) {
      int low = u8(s, from + 96 + b % 8) >> (b / 8 * 4) & 15;
      int high = u8(s, from + 104 + b % 4) >> (b / 4 * 2) & 3;
      d[sub + b] = scale * ((low | high << 4) - 32);
      int quants = from + 32 + b / 8 * 32 + (b & 1) * 16;
      for (int i = 0; i < 16; i++) {
        int mask = u8(s, from + (b & 1) * 16 + i) >> (b / 2) & 1;
        n[at + b * 16 + i] =
            (byte) ((u8(s, quants + i) >> (b % 8 / 2 * 2) & 3) - (mask == 0 ? 4 : 0));
      }
    }
  }

  /** The six-bit scale of sub-block {@code b} of Q4_K and Q5_K. */
  private static int scale6(byte[] s, int from, int b) {
    return b < 4
        ? u8(s, from + b) & 63
        : (u8(s, from + b + 4) & 15) | (u8(s, from + b - 4) >> 6) << 4;
  }

  private static int min6(byte[] s, int from, int b) {
    return b < 4
        ? u8(s, from + b + 4) & 63
        : (u8(s, from + b + 4) >> 4) | (u8(s, from + b) >> 6) << 4;
  }

  private static void q4k(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    float scale = half(s, from);
    float min = half(s, from + 2);
    for (int b = 0; b < 8; b++) {
      d[sub + b] = scale * scale6(s, from + 4, b);
      m[sub + b] = -(min * min6(s, from + 4, b));
      for (int i = 0; i < 32; i++) {
        n[at + b * 32 + i] = (byte) (u8(s, from + 16 + b / 2 * 32 + i) >> (b % 2 * 4) & 15);
      }
    }
  }

  private static void q5k(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    float scale = half(s, from);
    float min = half(s, from + 2);
    for (int b = 0; b < 8; b++) {
      d[sub + b] = scale * scale6(s, from + 4, b);
      m[sub + b] = -(min * min6(s, from + 4, b));
      for (int i = 0; i < 32; i++) {
        int low = u8(s, from + 48 + b / 2 * 32 + i) >> (b % 2 * 4) & 15;
        n[at + b * 32 + i] = (byte) (low | (u8(s, from + 16 + i) >> b & 1) << 4);
      }
    }
  }

  private static void q6k(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    float scale = half(s, from + 208);
    for (int b = 0; b < 16; b++) {
      d[sub + b] = scale * s[from + 192 + b];
      int quarter = b % 8 / 2;
      int low = from + b / 8 * 64 + quarter % 2 * 32 + (b & 1) * 16;
      int high = from + 128 + b / 8 * 32 + (b & 1) * 16;
      for (int i = 0; i < 16; i++) {
        int four = u8(s, low + i) >> (quarter / 2 * 4) & 15;
        int two = u8(s, high + i) >> (quarter * 2) & 3;
        n[at + b * 16 + i] = (byte) ((four | two << 4) - 32);
      }
    }
  }

  private static void iq4nl(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    d[sub] = half(s, from);
    table(s, from + 2, n, at, IQ4);
  }

  private static void iq4xs(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    float scale = half(s, from);
    int highs = u16(s, from + 2);
    for (int b = 0; b < 8; b++) {
      int low = u8(s, from + 4 + b / 2) >> (b % 2 * 4) & 15;
      d[sub + b] = scale * ((low | (highs >> (2 * b) & 3) << 4) - 32);
      table(s, from + 8 + b * 16, n, at + b * 32, IQ4);
    }
  }

  private static void mxfp4(byte[] s, int from, byte[] n, int at, float[] d, float[] m, int sub) {
    // the table holds twice the values, so the exponent's bias is one more than 127
    d[sub] = (float) Math.scalb(1.0, u8(s, from) - 128);
    table(s, from + 1, n, at, MXFP4);
  }

  private static void table(byte[] s, int from, byte[] n, int at, byte[] table) {
    for (int i = 0; i < 16; i++) {
      int two = u8(s, from + i);
      n[at + i] = table[two & 15];
      n[at + 16 + i] = table[two >> 4];
    }
  }
}
