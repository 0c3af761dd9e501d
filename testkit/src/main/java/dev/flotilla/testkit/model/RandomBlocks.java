package dev.flotilla.testkit.model;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.Random;

/**
 * Weights out of nothing, in every type that the built-in engine computes with. Any bits are a
 * valid block, so no quantiser is needed: numbers are random bits, and only the scales are set, to
 * what gives the weights the spread that is asked for. Minima are set so that weights are zero on
 * average.
 *
 * <p>Source of the layouts: {@code ggml/src/ggml-common.h}.
 */
public enum RandomBlocks {
  F32(0, 1, 4, 0),
  F16(1, 1, 2, 0),
  BF16(30, 1, 2, 0),
  Q4_0(2, 32, 18, 4.63),
  Q4_1(3, 32, 20, 4.61),
  Q5_0(6, 32, 22, 9.25),
  Q5_1(7, 32, 24, 9.23),
  Q8_0(8, 32, 34, 73.9),
  Q2_K(10, 256, 84, 13.9),
  Q3_K(11, 256, 110, 43.4),
  Q4_K(12, 256, 144, 258),
  Q5_K(13, 256, 176, 527),
  Q6_K(14, 256, 210, 1367),
  IQ4_NL(20, 32, 18, 67.4),
  IQ4_XS(23, 256, 136, 1247),
  MXFP4(39, 32, 17, 5.85);

  private static final int CHUNK_BLOCKS = 1024;

  private final int id;
  private final int blockElements;
  private final int blockBytes;

  /** Spread of the numbers that random bits of a block stand for where its scale is 1. */
  private final double spread;

  RandomBlocks(int id, int blockElements, int blockBytes, double spread) {
    this.id = id;
    this.blockElements = blockElements;
    this.blockBytes = blockBytes;
    this.spread = spread;
  }

  /** The type's number in a file. */
  public int id() {
    return id;
  }

  /** Numbers to a block: a row has whole blocks. */
  public int blockElements() {
    return blockElements;
  }

  /** Bytes of so many numbers. */
  public long bytes(long elements) {
    return elements / blockElements * blockBytes;
  }

  /** The type with this number, empty where it is none of these. */
  public static Optional<RandomBlocks> of(int id) {
    for (RandomBlocks type : values()) {
      if (type.id == id) {
        return Optional.of(type);
      }
    }
    return Optional.empty();
  }

  /** Writes so many numbers with a standard deviation of about {@code deviation}. */
  void write(long elements, double deviation, Random random, OutputStream out) throws IOException {
    byte[] bytes = new byte[CHUNK_BLOCKS * blockBytes];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    long blocks = elements / blockElements;
    while (blocks > 0) {
      int now = (int) Math.min(CHUNK_BLOCKS, blocks);
      random.nextBytes(bytes);
      for (int i = 0; i < now; i++) {
        scale(buffer, i * blockBytes, deviation, random);
      }
      out.write(bytes, 0, now * blockBytes);
      blocks -= now;
    }
  }

  private void scale(ByteBuffer block, int at, double deviation, Random random) {
    float uniform = (float) ((random.nextFloat() * 2 - 1) * Math.sqrt(3) * deviation);
    float scale = (float) (deviation / spread * (0.5 + random.nextFloat()));
    switch (this) {
      case F32 -> block.putFloat(at, uniform);
      case F16 -> half(block, at, uniform);
      case BF16 -> block.putShort(at, (short) (Float.floatToRawIntBits(uniform) >>> 16));
      case Q4_0, Q5_0, Q8_0, IQ4_NL, IQ4_XS ->
          half(block, at, random.nextBoolean() ? scale : -scale);
      case Q4_1 -> halves(block, at, scale, -7.5f * scale);
      case Q5_1 -> halves(block, at, scale, -15.5f * scale);
      case Q2_K -> halves(block, at + 80, scale, 1.5f * scale);
      case Q3_K -> half(block, at + 108, scale);
      case Q4_K -> halves(block, at, scale, 7.5f * scale);
      case Q5_K -> halves(block, at, scale, 15.5f * scale);
      case Q6_K -> half(block, at + 208, scale);
      case MXFP4 -> block.put(at, (byte) (128 + Math.getExponent(scale) + random.nextInt(2)));
    }
  }

  private static void halves(ByteBuffer block, int at, float scale, float min) {
    half(block, at, scale);
    half(block, at + 2, min);
  }

  private static void half(ByteBuffer block, int at, float value) {
    block.putShort(at, Float.floatToFloat16(value));
  }
}
