package dev.flotilla.gguf.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.TensorType;
import dev.flotilla.testkit.real.Python;
import java.lang.foreign.MemorySegment;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bit for bit what the gguf package of Python reads from the same blocks. */
class DequantizerTest {
  private static final int BLOCKS = 500;

  private static final List<TensorType> TYPES =
      Arrays.stream(TensorType.values()).filter(Dequantizer::reads).toList();

  @TempDir Path folder;

  @Test
  void readsWhatPythonReads() throws Exception {
    Random random = new Random(20260104);
    for (TensorType type : TYPES) {
      Files.write(folder.resolve(type + ".blocks"), blocks(type, random));
    }
    Python python = Python.with("gguf-0.19.0", List.of("gguf==0.19.0", "numpy==2.3.5"));
    Python.Ended ended =
        python.run(script(), Map.of("FOLDER", folder.toString()), Duration.ofMinutes(2));
    assertThat(ended.exitCode()).as(ended.output()).isZero();

    for (TensorType type : TYPES) {
      byte[] blocks = Files.readAllBytes(folder.resolve(type + ".blocks"));
      float[] ours = new float[BLOCKS * type.blockElements()];
      Dequantizer.read(type, MemorySegment.ofArray(blocks), 0, ours, ours.length);
      float[] theirs = new float[ours.length];
      ByteBuffer.wrap(Files.readAllBytes(folder.resolve(type + ".floats")))
          .order(ByteOrder.LITTLE_ENDIAN)
          .asFloatBuffer()
          .get(theirs);
      assertThat(ours).as(type.name()).isEqualTo(theirs);
    }
  }

  /** Every type of the built-in engine, and no other. */
  @Test
  void readsTheTypesThatFilesOfTheseFamiliesHave() {
    assertThat(TYPES)
        .extracting(TensorType::name)
        .containsExactlyInAnyOrder(
            "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K",
            "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4");
    assertThatThrownBy(() ->
            Dequantizer.read(
                TensorType.IQ1_S, MemorySegment.ofArray(new byte[50]), 0, new float[256], 256))
        .hasMessage("IQ1_S can't be read");
    assertThatThrownBy(() ->
            Dequantizer.read(
                TensorType.Q8_0, MemorySegment.ofArray(new byte[34]), 0, new float[32], 31))
        .hasMessage("31 numbers are no whole blocks of Q8_0");
  }

  /** Where a block begins, how its halves lie: once by hand, for a reader without Python. */
  @Test
  void aBlockByHand() {
    byte[] block = new byte[18];
    block[1] = 0x40; // 2.0 in 16 bits
    block[2] = (byte) 0xf0; // number 0 is 0, number 16 is 15
    block[17] = 0x09; // number 15 is 9, number 31 is 0
    float[] numbers = new float[32];
    Dequantizer.read(TensorType.Q4_0, MemorySegment.ofArray(block), 0, numbers, 32);
    assertThat(numbers[0]).isEqualTo(-16);
    assertThat(numbers[16]).isEqualTo(14);
    assertThat(numbers[15]).isEqualTo(2);
    assertThat(numbers[31]).isEqualTo(-16);
  }

  /** Any bits are a block; of the scales only those that are numbers can be compared. */
  private static byte[] blocks(TensorType type, Random random) {
    byte[] bytes = new byte[BLOCKS * type.blockBytes()];
    random.nextBytes(bytes);
    for (int block = 0; block < BLOCKS; block++) {
      int at = block * type.blockBytes();
      switch (type) {
        case F32 -> little(bytes).putFloat(at, random.nextFloat(-9, 9));
        case BF16 -> bytes[at + 1] &= (byte) 0xbf;
        case MXFP4 -> bytes[at] = (byte) random.nextInt(256 - 3); // up to 2^125, no infinity
        case Q2_K -> {
          scale(bytes, at + 80, random);
          scale(bytes, at + 82, random);
        }
        case Q3_K -> scale(bytes, at + 108, random);
        case Q6_K -> scale(bytes, at + 208, random);
        case Q4_1, Q5_1, Q4_K, Q5_K -> {
          scale(bytes, at, random);
          scale(bytes, at + 2, random);
        }
        default -> scale(bytes, at, random);
      }
    }
    return bytes;
  }

  private static void scale(byte[] bytes, int at, Random random) {
    little(bytes).putShort(at, Float.floatToFloat16(random.nextFloat(-2, 2)));
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static Path script() throws URISyntaxException {
    URL script = Objects.requireNonNull(DequantizerTest.class.getResource("dequantize.py"));
    return Path.of(script.toURI());
  }
}
