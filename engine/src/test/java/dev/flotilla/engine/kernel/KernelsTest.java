package dev.flotilla.engine.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.flotilla.gguf.TensorType;
import dev.flotilla.gguf.tensor.Dequantizer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

/** The vector kernels are the scalar ones, in every bit, for every type and number of rows. */
@Tag("widths")
class KernelsTest {
  private static final int ROWS = 70;
  private static final int COLUMNS = 512;

  private final Arena arena = Arena.ofShared();
  private final Workers workers = new Workers(2);
  private final Random random = new Random(7);

  @AfterEach
  void end() {
    workers.close();
    arena.close();
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      mode = Mode.INCLUDE,
      names = {
        "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K",
        "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"
      })
  void aProductIsTheSameInEveryBit(TensorType type) {
    PackedMatrix matrix = matrix(type);
    for (int rows : new int[] {1, 2, 3, 5, 8, 13}) {
      float[] x = inputs(rows);
      float[] expected = product(new ScalarKernels(), matrix, x, rows);
      assertThat(product(new SimdKernels(), matrix, x, rows))
          .as("%s, %d rows", type, rows)
          .containsExactly(expected);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      mode = Mode.INCLUDE,
      names = {"F16", "Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K"})
  void aRowsProductDoesNotDependOnTheOthers(TensorType type) {
    PackedMatrix matrix = matrix(type);
    float[] x = inputs(13);
    float[] together = product(new SimdKernels(), matrix, x, 13);
    for (int row = 0; row < 13; row++) {
      float[] one = new float[COLUMNS];
      System.arraycopy(x, row * COLUMNS, one, 0, COLUMNS);
      float[] alone = product(new SimdKernels(), matrix, one, 1);
      for (int r = 0; r < ROWS; r++) {
        assertThat(alone[r]).isEqualTo(together[row * ROWS + r]);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      mode = Mode.INCLUDE,
      names = {
        "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K",
        "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4"
      })
  void packedWeightsAreTheFiles(TensorType type) {
    MemorySegment source = blocks(type);
    PackedMatrix matrix = PackedMatrix.pack(type, ROWS, COLUMNS, source, arena, workers);
    float[] packed = new float[COLUMNS];
    float[] read = new float[COLUMNS];
    for (int row = 0; row < ROWS; row++) {
      matrix.row(row, packed, 0);
      Dequantizer.read(type, source, row * type.rowBytes(COLUMNS), read, COLUMNS);
      for (int k = 0; k < COLUMNS; k++) {
        assertThat(packed[k]).isCloseTo(read[k], Offset.offset(1e-6f + Math.abs(read[k]) * 1e-5f));
      }
    }
  }

  /** Against the definition in double precision, with the weights that a lookup gives. */
  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      mode = Mode.INCLUDE,
      names = {"F32", "BF16", "Q4_0", "Q4_1", "Q5_1", "Q8_0", "Q4_K", "Q6_K", "MXFP4"})
  void aProductIsWhatItsWeightsSay(TensorType type) {
    PackedMatrix matrix = matrix(type);
    float[] x = inputs(1);
    float[] product = product(new SimdKernels(), matrix, x, 1);
    float[] weights = new float[COLUMNS];
    for (int row = 0; row < ROWS; row++) {
      matrix.row(row, weights, 0);
      double sum = 0;
      double size = 0;
      for (int k = 0; k < COLUMNS; k++) {
        sum += (double) weights[k] * x[k];
        size += Math.abs((double) weights[k] * x[k]);
      }
      assertThat((double) product[row]).isCloseTo(sum, Offset.offset(size * 0.01));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {32, 64, 128, 256})
  void attentionIsTheSameInEveryBit(int headSize) {
    int stretch = PagedAttention.STRETCH;
    float[] keys = floats(stretch * headSize);
    float[] queries = floats(4 * headSize);
    float[][] scores = new float[2][4 * stretch];
    float[][] out = new float[2][4 * headSize];
    float[][] sums = new float[2][64];
    Kernels[] both = {new ScalarKernels(), new SimdKernels()};
    for (int i = 0; i < 2; i++) {
      for (int tokens : new int[] {stretch, 32}) {
        both[i].scores(keys, tokens, headSize, queries, 0, scores[i], 0);
        scores[i][3] = Float.NEGATIVE_INFINITY;
        for (int q = 0; q < 4; q++) {
          float maximum =
              both[i].soften(
                  scores[i],
                  q * stretch,
                  tokens,
                  -1f,
                  sums[i],
                  q * 16,
                  out[i],
                  q * headSize,
                  headSize);
          assertThat(maximum).isGreaterThanOrEqualTo(-1f);
        }
        both[i].weigh(keys, tokens - 5, headSize, scores[i], 0, out[i], 0);
      }
    }
    assertThat(scores[1]).containsExactly(scores[0]);
    assertThat(scores[1][3]).isZero();
    assertThat(sums[1]).containsExactly(sums[0]);
    assertThat(out[1]).containsExactly(out[0]);
  }

  @Test
  void gatesAreTheSameInEveryBit() {
    float[] gate = floats(256);
    for (int i = 0; i < 256; i++) {
      gate[i] *= 60;
    }
    float[] up = floats(256);
    float[] scalar = gate.clone();
    float[] simd = gate.clone();
    new ScalarKernels().silu(scalar, up, 0, 256);
    new SimdKernels().silu(simd, up, 0, 256);
    assertThat(simd).containsExactly(scalar);
    new ScalarKernels().gelu(scalar, up, 0, 256);
    new SimdKernels().gelu(simd, up, 0, 256);
    assertThat(simd).containsExactly(scalar);
  }

  @Test
  void theExponentialFunctionIsOne() {
    for (int i = -865; i < 870; i += 3) {
      float x = i / 10f;
      assertThat(Exp.exp(x) / Math.exp(x)).isCloseTo(1.0, Offset.offset(3e-7));
    }
    assertThat(Exp.exp(Float.NEGATIVE_INFINITY)).isZero();
  }

  @Test
  void everyHalfIsWidenedAsItIs() {
    MemorySegment halves = arena.allocate(1 << 17, 64);
    for (int bits = 0; bits < 1 << 16; bits++) {
      boolean finite = (bits >> 10 & 31) != 31;
      halves.set(PackedMatrix.SHORT, 2L * bits, (short) (finite ? bits : 0));
    }
    float[][] to = new float[2][1 << 16];
    Kernels[] both = {new ScalarKernels(), new SimdKernels()};
    for (int i = 0; i < 2; i++) {
      both[i].widenFour(halves, 0, 1 << 15, 2 << 15, 3 << 15, 256, 32, to[i]);
    }
    assertThat(to[1]).containsExactly(to[0]);
    assertThat(to[0]).contains(1f, -65504f, 0x1p-24f);
  }

  @ParameterizedTest
  @ValueSource(ints = {PackedMatrix.BLOCK, PackedMatrix.WIDE_BLOCK})
  void quantisedRowsAreTheSameInEveryBit(int block) {
    float[] row = floats(512);
    row[100] = -1.5f; // the largest
    for (int i = 256; i < 512; i++) {
      row[i] = i < 300 ? 0 : row[i] * 1e-7f;
    }
    int[][] numbers = new int[2][512 + 32];
    float[][] scales = new float[2][17];
    float[][] scaledSums = new float[2][17];
    int[][] sums = new int[2][34];
    Kernels[] both = {new ScalarKernels(), new SimdKernels()};
    for (int i = 0; i < 2; i++) {
      both[i].quantise(row, 0, 512, block, numbers[i], 32, scales[i], scaledSums[i], sums[i]);
    }
    assertThat(numbers[1]).containsExactly(numbers[0]);
    assertThat(scales[1]).containsExactly(scales[0]);
    assertThat(scaledSums[1]).containsExactly(scaledSums[0]);
    assertThat(sums[1]).containsExactly(sums[0]);
    assertThat(numbers[0][32 + 100] >> 16).isEqualTo(-127);
    assertThat((numbers[0][32 + 8] >> 16) * scales[0][1])
        .isCloseTo(row[8], Offset.offset(scales[0][1] * 0.6f));
    boolean wide = block == PackedMatrix.WIDE_BLOCK;
    assertThat(scales[0][2]).isEqualTo(wide ? scales[0][4] : half(scales[0][2]));
    assertThat(scaledSums[0][1])
        .isCloseTo(scales[0][1] * (sums[0][2] + sums[0][3]), Offset.offset(0.01f));
  }

  private static float half(float x) {
    return Float.float16ToFloat(Float.floatToFloat16(x));
  }

  /** Of one layer a file may have matrices in types that take activations in different ways. */
  @ParameterizedTest
  @ValueSource(ints = {1, 13})
  void matricesOfDifferentTypesShareRows(int rows) {
    TensorType[] types = {TensorType.Q4_K, TensorType.Q8_0, TensorType.F16};
    PackedMatrix[] matrices = {matrix(types[0]), matrix(types[1]), matrix(types[2])};
    float[] x = inputs(rows);
    Compute compute = new Compute(new SimdKernels(), workers, COLUMNS, 32, 1);
    Activations activations = new Activations(rows, COLUMNS);
    float[][] out = new float[3][rows * ROWS];
    compute.quantise(activations, matrices[1], x, rows, COLUMNS, COLUMNS);
    compute.products(activations, matrices[0], out[0], matrices[1], out[1], matrices[2], out[2]);
    for (int i = 0; i < 3; i++) {
      assertThat(out[i])
          .as("%s", types[i])
          .containsExactly(product(new SimdKernels(), matrices[i], x, rows));
    }
  }

  private float[] product(Kernels kernels, PackedMatrix matrix, float[] x, int rows) {
    Compute compute = new Compute(kernels, workers, COLUMNS, 32, 1);
    Activations activations = new Activations(rows, COLUMNS);
    compute.quantise(activations, matrix, x, rows, COLUMNS, COLUMNS);
    float[] out = new float[rows * ROWS];
    compute.product(activations, matrix, out);
    return out;
  }

  /** Any bits are blocks; those of half-precision scales are made small and finite. */
  private MemorySegment blocks(TensorType type) {
    int bytes = Math.toIntExact(ROWS * type.rowBytes(COLUMNS));
    byte[] bits = new byte[bytes];
    random.nextBytes(bits);
    MemorySegment source = arena.allocate(bytes, 64);
    MemorySegment.copy(bits, 0, source, ValueLayout.JAVA_BYTE, 0, bytes);
    int block = type.blockBytes();
    int[] scales =
        switch (type) {
          case Q4_0, Q5_0, Q8_0, IQ4_NL, IQ4_XS -> new int[] {0};
          case Q4_1, Q5_1, Q4_K, Q5_K -> new int[] {0, 2};
          case Q2_K -> new int[] {80, 82};
          case Q3_K -> new int[] {108};
          case Q6_K -> new int[] {208};
          default -> new int[0];
        };
    for (int at = 0; at < bytes; at += block) {
      for (int scale : scales) {
        source.set(
            PackedMatrix.SHORT,
            at + scale,
            Float.floatToFloat16(random.nextFloat() * 0.02f + 0.001f));
      }
      switch (type) {
        case F32 -> source.set(PackedMatrix.FLOAT, at, random.nextFloat() - 0.5f);
        case F16 ->
            source.set(PackedMatrix.SHORT, at, Float.floatToFloat16(random.nextFloat() - 0.5f));
        case BF16 ->
            source.set(
                PackedMatrix.SHORT,
                at,
                (short) (Float.floatToRawIntBits(random.nextFloat() - 0.5f) >>> 16));
        case MXFP4 -> source.set(ValueLayout.JAVA_BYTE, at, (byte) 121);
        default -> {}
      }
    }
    return source;
  }

  private PackedMatrix matrix(TensorType type) {
    return PackedMatrix.pack(type, ROWS, COLUMNS, blocks(type), arena, workers);
  }

  private float[] inputs(int rows) {
    return floats(rows * COLUMNS);
  }

  private float[] floats(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = random.nextFloat() * 2 - 1;
    }
    return numbers;
  }
}
