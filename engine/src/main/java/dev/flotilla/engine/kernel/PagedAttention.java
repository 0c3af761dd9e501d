package dev.flotilla.engine.kernel;

import java.util.Arrays;

/**
 * Attention over pages as an online softmax (Dao et al., FlashAttention; Milakov and Gimelshein,
 * 2018): the scores of a stretch of pages become weights under the maximum so far, and what was
 * summed before is rescaled when the maximum rises.
 *
 * <p>A piece of work is one head of keys of one sequence, for up to {@value Compute#ROWS_AT_ONCE}
 * consecutive rows and all heads of queries that share it: each page is read and widened once for
 * all of them. Prefill chunks and decodes are the same to it. Stretches are taken in the order of
 * positions, a query's sums live in lanes of its own, and a stretch that a query may not see leaves
 * its sums as they are: so a row's result does not depend on the rows it is computed with.
 */
public final class PagedAttention {
  /**
   * Positions whose scores meet in one step of the softmax: one maximum to look for instead of one
   * for each page, and longer loops. Stretches begin at multiples of it, for every row.
   */
  static final int STRETCH = 64;

  /** Pages that are scored together: two vectors of the widest kind hold the keys of two. */
  private static final int SCORED = 2 * KvPages.TOKENS;

  /**
   * Positions that are summed by themselves and then added to the sums of those before: threads
   * share a long context by segments, and whether they do changes no bit. A multiple of a stretch.
   */
  static final int SEGMENT = 512;

  /** Parts that there is room for, for each thread: with more, rows are not split. */
  private static final int PARTS_EACH = 64;

  private final Compute compute;
  private final KvPages pages;
  private final int groupHeads;
  private final Workers.Region region = this::attend;
  private final Workers.Region partRegion = this::attendPart;
  private final int partsMax;
  private final float[] partOutputs;
  private final float[] partLanes;
  private final float[] partMaxima;

  private SequenceRows rows = new NoRows();
  private int layer;
  private int window;
  private float[] queries = new float[0];
  private float[] out = new float[0];

  /**
   * Attention over these pages.
   *
   * @param groupHeads heads of queries to each of keys
   */
  public PagedAttention(Compute compute, KvPages pages, int groupHeads) {
    this.compute = compute;
    this.pages = pages;
    this.groupHeads = groupHeads;
    partsMax = PARTS_EACH * compute.workers().size();
    partOutputs = new float[partsMax * groupHeads * pages.headSize()];
    partLanes = new float[partsMax * groupHeads * 16];
    partMaxima = new float[partsMax * groupHeads];
  }

  /**
   * Attends from all rows to the positions up to their own.
   *
   * @param queries {@code [row][head][headSize]}, scaled
   * @param window how many positions a row sees, its own included; 0 for all
   * @param out as the queries
   */
  public void run(SequenceRows rows, int layer, int window, float[] queries, float[] out) {
    this.rows = rows;
    this.layer = layer;
    this.window = window;
    this.queries = queries;
    this.out = out;
    if (isSplit()) {
      compute.workers().run(partRegion);
      joinParts();
    } else {
      compute.workers().run(region);
    }
  }

  /** Whether threads take parts of pieces: single rows, too few of them for all threads. */
  private boolean isSplit() {
    int pieces = rows.sequences() * pages.heads();
    int threads = compute.workers().size();
    int parts = 0;
    for (int sequence = 0; sequence < rows.sequences(); sequence++) {
      if (rows.rowCount(sequence) != 1) {
        return false;
      }
      parts += parts(sequence);
    }
    return threads > 1 && pieces < 4 * threads && parts > pieces && parts <= partsMax;
  }

  private void attend(int worker) {
    Scratch scratch = compute.scratch(worker);
    Workers workers = compute.workers();
    int before = 0;
    int sequence = 0;
    for (int piece = workers.claim(); ; piece = workers.claim()) {
      // claims rise, so the search goes on where it was
      while (sequence < rows.sequences() && piece - before >= pieces(sequence)) {
        before += pieces(sequence++);
      }
      if (sequence == rows.sequences()) {
        return;
      }
      int index = piece - before;
      // late rows see most pages: first, so that what is left at the end is short
      int tile = pieces(sequence) / pages.heads() - 1 - index / pages.heads();
      piece(sequence, index % pages.heads(), tile * Compute.ROWS_AT_ONCE, scratch);
    }
  }

  private int pieces(int sequence) {
    return Math.ceilDiv(rows.rowCount(sequence), Compute.ROWS_AT_ONCE) * pages.heads();
  }

  private void piece(int sequence, int head, int from, Scratch scratch) {
    int count = Math.min(Compute.ROWS_AT_ONCE, rows.rowCount(sequence) - from);
    int row = rows.firstRow(sequence) + from;
    int position = rows.contextBefore(sequence) + from;
    gather(row, head, count, scratch);
    Arrays.fill(scratch.allMaxima, Float.NEGATIVE_INFINITY);
    for (int s = firstSeen(position) / SEGMENT; s * SEGMENT < position + count; s++) {
      segment(sequence, head, s, position, count, scratch);
      merge(scratch.outputs, 0, scratch.lanes, 0, scratch.maxima, 0, count, scratch);
    }
    scatter(row, head, count, scratch);
  }

  // ---- parts: the segments of single rows

  private int parts(int sequence) {
    int position = rows.contextBefore(sequence);
    return (position / SEGMENT + 1 - firstSeen(position) / SEGMENT) * pages.heads();
  }

  private void attendPart(int worker) {
    Scratch scratch = compute.scratch(worker);
    Workers workers = compute.workers();
    int before = 0;
    int sequence = 0;
    for (int part = workers.claim(); ; part = workers.claim()) {
      while (sequence < rows.sequences() && part - before >= parts(sequence)) {
        before += parts(sequence++);
      }
      if (sequence == rows.sequences()) {
        return;
      }
      int segments = parts(sequence) / pages.heads();
      int head = (part - before) / segments;
      int position = rows.contextBefore(sequence);
      int s = firstSeen(position) / SEGMENT + (part - before) % segments;
      gather(rows.firstRow(sequence), head, 1, scratch);
      segment(sequence, head, s, position, 1, scratch);
      int numbers = groupHeads * pages.headSize();
      System.arraycopy(scratch.outputs, 0, partOutputs, part * numbers, numbers);
      System.arraycopy(scratch.lanes, 0, partLanes, part * groupHeads * 16, groupHeads * 16);
      System.arraycopy(scratch.maxima, 0, partMaxima, part * groupHeads, groupHeads);
    }
  }

  private void joinParts() {
    Scratch scratch = compute.scratch(0);
    int part = 0;
    for (int sequence = 0; sequence < rows.sequences(); sequence++) {
      int segments = parts(sequence) / pages.heads();
      for (int head = 0; head < pages.heads(); head++) {
        Arrays.fill(scratch.allMaxima, Float.NEGATIVE_INFINITY);
        for (int s = 0; s < segments; s++, part++) {
          merge(
              partOutputs,
              part * groupHeads * pages.headSize(),
              partLanes,
              part * groupHeads * 16,
              partMaxima,
              part * groupHeads,
              1,
              scratch);
        }
        scatter(rows.firstRow(sequence), head, 1, scratch);
      }
    }
  }

  // ---- segments

  /** The first position that a row at that one sees. */
  private int firstSeen(int position) {
    return window == 0 ? 0 : Math.max(0, position - window + 1);
  }

  /** What {@code count} rows from {@code position} on see of one segment, as if it were all. */
  private void segment(
      int sequence, int head, int segment, int position, int count, Scratch scratch) {
    int size = pages.headSize();
    int padded = Math.ceilDiv(count * groupHeads, 4) * 4;
    Arrays.fill(scratch.outputs, 0, padded * size, 0);
    Arrays.fill(scratch.lanes, 0, padded * 16, 0);
    Arrays.fill(scratch.maxima, Float.NEGATIVE_INFINITY);
    int end = Math.min(position + count, (segment + 1) * SEGMENT);
    int start = Math.max(firstSeen(position) / STRETCH * STRETCH, segment * SEGMENT);
    for (; start < end; start += STRETCH) {
      int tokens = Math.min(STRETCH, end - start);
      int pagesHere = Math.ceilDiv(tokens, KvPages.TOKENS);
      int page = start / KvPages.TOKENS;
      pages.read(compute.kernels(), layer, rows, sequence, page, pagesHere, head, scratch);
      stretch(start, tokens, position, count * groupHeads, scratch);
    }
  }

  /** Adds a segment to all that was there before it; one that a query does not see adds nothing. */
  private void merge(
      float[] outputs,
      int outputsAt,
      float[] lanes,
      int lanesAt,
      float[] maxima,
      int maximaAt,
      int count,
      Scratch scratch) {
    int size = pages.headSize();
    for (int query = 0; query < count * groupHeads; query++) {
      float maximum = maxima[maximaAt + query];
      float before = scratch.allMaxima[query];
      if (maximum == Float.NEGATIVE_INFINITY) {
        continue;
      }
      if (before == Float.NEGATIVE_INFINITY) {
        System.arraycopy(outputs, outputsAt + query * size, scratch.allOutputs, query * size, size);
        System.arraycopy(lanes, lanesAt + query * 16, scratch.allLanes, query * 16, 16);
        scratch.allMaxima[query] = maximum;
        continue;
      }
      float highest = Math.max(maximum, before);
      float old = Exp.exp(before - highest);
      float added = Exp.exp(maximum - highest);
      mix(scratch.allOutputs, query * size, old, outputs, outputsAt + query * size, added, size);
      mix(scratch.allLanes, query * 16, old, lanes, lanesAt + query * 16, added, 16);
      scratch.allMaxima[query] = highest;
    }
  }

  private static void mix(
      float[] to, int at, float old, float[] from, int fromAt, float added, int count) {
    for (int i = 0; i < count; i++) {
      to[at + i] = Math.fma(from[fromAt + i], added, to[at + i] * old);
    }
  }

  private void stretch(int start, int tokens, int position, int used, Scratch scratch) {
    int size = pages.headSize();
    int scored = Math.ceilDiv(tokens, SCORED) * SCORED;
    Kernels kernels = compute.kernels();
    float[] scores = scratch.scores;
    for (int query = 0; query < used; query += 4) {
      kernels.scores(
          scratch.keys, scored, size, scratch.queries, query * size, scores, query * STRETCH);
    }
    for (int query = 0; query < used; query++) {
      int at = query * STRETCH;
      mask(scores, at, scored, start, position + query / groupHeads);
      scratch.maxima[query] =
          kernels.soften(
              scores,
              at,
              scored,
              scratch.maxima[query],
              scratch.lanes,
              query * 16,
              scratch.outputs,
              query * size,
              size);
    }
    for (int query = 0; query < used; query += 4) {
      kernels.weigh(
          scratch.values, tokens, size, scores, query * STRETCH, scratch.outputs, query * size);
    }
  }

  private void mask(float[] scores, int at, int scored, int start, int position) {
    for (int t = Math.max(0, position + 1 - start); t < scored; t++) {
      scores[at + t] = Float.NEGATIVE_INFINITY;
    }
    if (window > 0) {
      int hidden = Math.min(scored, position - window + 1 - start);
      for (int t = 0; t < hidden; t++) {
        scores[at + t] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  private int at(int row, int head) {
    return (row * pages.heads() + head) * groupHeads * pages.headSize();
  }

  private void gather(int row, int head, int count, Scratch scratch) {
    int size = pages.headSize();
    int used = count * groupHeads;
    int padded = Math.ceilDiv(used, 4) * 4;
    if (padded > used) {
      Arrays.fill(scratch.queries, (padded - 4) * size, padded * size, 0);
    }
    for (int query = 0; query < used; query++) {
      int from = at(row + query / groupHeads, head) + query % groupHeads * size;
      int to = query / 4 * 4 * size + query % 4;
      for (int d = 0; d < size; d++) {
        scratch.queries[to + 4 * d] = queries[from + d];
      }
    }
  }

  private void scatter(int row, int head, int count, Scratch scratch) {
    int size = pages.headSize();
    for (int query = 0; query < count * groupHeads; query++) {
      float sum = 0;
      for (int i = query * 16; i < query * 16 + 16; i++) {
        sum += scratch.allLanes[i];
      }
      int to = at(row + query / groupHeads, head) + query % groupHeads * size;
      for (int d = 0; d < size; d++) {
        out[to + d] = scratch.allOutputs[query * size + d] / sum;
      }
    }
  }

  /** Before the first step. */
  private record NoRows() implements SequenceRows {
    @Override
    public int sequences() {
      return 0;
    }

    @Override
    public int firstRow(int sequence) {
      return 0;
    }

    @Override
    public int rowCount(int sequence) {
      return 0;
    }

    @Override
    public int contextBefore(int sequence) {
      return 0;
    }

    @Override
    public int block(int sequence, int index) {
      return 0;
    }
  }
}
