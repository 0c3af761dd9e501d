package dev.flotilla.engine.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a row sees of a long context, however many threads share the looking. */
class PagedAttentionTest {
  private static final int CONTEXT = 2 * PagedAttention.SEGMENT + 77;
  private static final int HEADS = 2;
  private static final int GROUP = 3;
  private static final int SIZE = 32;
  private static final int WIDTH = HEADS * GROUP * SIZE;

  private final Arena arena = Arena.ofShared();
  private final Random random = new Random(11);
  private final float[] keys = floats(CONTEXT * HEADS * SIZE);
  private final float[] values = floats(CONTEXT * HEADS * SIZE);
  private final KvPages pages = filled();

  @AfterEach
  void end() {
    arena.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 700, 20})
  void aLastRowIsTheSameAloneOnThreeThreadsAndInAChunk(int window) {
    float[] queries = floats(13 * WIDTH);
    float[] chunk = attend(1, 13, window, queries);
    float[] last = new float[WIDTH];
    System.arraycopy(queries, 12 * WIDTH, last, 0, WIDTH);
    float[] expected = new float[WIDTH];
    System.arraycopy(chunk, 12 * WIDTH, expected, 0, WIDTH);

    assertThat(attend(1, 1, window, last)).as("alone").containsExactly(expected);
    assertThat(attend(3, 1, window, last)).as("on three threads").containsExactly(expected);
  }

  @Test
  void itIsWhatTheDefinitionSays() {
    float[] queries = floats(WIDTH);
    float[] out = attend(3, 1, 0, queries);
    for (int head = 0; head < HEADS * GROUP; head++) {
      double[] expected = softmaxOf(queries, head);
      for (int d = 0; d < SIZE; d++) {
        assertThat((double) out[head * SIZE + d]).isCloseTo(expected[d], Offset.offset(1e-3));
      }
    }
  }

  @Test
  void takingThePagesMemoryLeavesWhatIsInThem() {
    float[] queries = floats(WIDTH);
    float[] before = attend(1, 1, 0, queries);
    for (int piece = 0; piece < pages.pieces(); piece++) {
      pages.touch(piece);
    }
    assertThat(attend(1, 1, 0, queries)).containsExactly(before);
  }

  private double[] softmaxOf(float[] queries, int head) {
    double[] sums = new double[SIZE];
    double all = 0;
    for (int t = 0; t < CONTEXT; t++) {
      int at = (t * HEADS + head / GROUP) * SIZE;
      double score = 0;
      for (int d = 0; d < SIZE; d++) {
        score += queries[head * SIZE + d] * keys[at + d];
      }
      double weight = Math.exp(score);
      all += weight;
      for (int d = 0; d < SIZE; d++) {
        sums[d] += weight * values[at + d];
      }
    }
    for (int d = 0; d < SIZE; d++) {
      sums[d] /= all;
    }
    return sums;
  }

  /** The context's last {@code count} rows. */
  private float[] attend(int threads, int count, int window, float[] queries) {
    float[] out = new float[count * WIDTH];
    try (Workers workers = new Workers(threads)) {
      Compute compute = new Compute(new SimdKernels(), workers, 32, SIZE, GROUP);
      new PagedAttention(compute, pages, GROUP).run(new Last(count), 0, window, queries, out);
    }
    return out;
  }

  private KvPages filled() {
    int blocks = CONTEXT / KvPages.TOKENS + 1;
    KvPages filled = new KvPages(1, HEADS, SIZE, false, blocks, arena);
    for (int t = 0; t < CONTEXT; t++) {
      int at = t * HEADS * SIZE;
      int block = blocks - 1 - t / KvPages.TOKENS;
      filled.write(0, block, t % KvPages.TOKENS, keys, at, values, at);
    }
    return filled;
  }

  private float[] floats(int count) {
    float[] numbers = new float[count];
    for (int i = 0; i < count; i++) {
      numbers[i] = random.nextFloat() * 2 - 1;
    }
    return numbers;
  }

  /** One sequence, in blocks from the last to the first. */
  private record Last(int count) implements SequenceRows {
    @Override
    public int sequences() {
      return 1;
    }

    @Override
    public int firstRow(int sequence) {
      return 0;
    }

    @Override
    public int rowCount(int sequence) {
      return count;
    }

    @Override
    public int contextBefore(int sequence) {
      return CONTEXT - count;
    }

    @Override
    public int block(int sequence, int index) {
      return CONTEXT / KvPages.TOKENS - index;
    }
  }
}
