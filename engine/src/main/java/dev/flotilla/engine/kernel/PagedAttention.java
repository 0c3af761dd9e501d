package dev.flotilla.engine.kernel;

import java.util.Arrays;

/**
 * Attention over pages as an online softmax (Dao et al., FlashAttention; Milakov and Gimelshein,
 * 2018): a page's scores become weights under the maximum so far, and what was summed before is
 * rescaled when the maximum rises.
 *
 * <p>A piece of work is one head of keys of one sequence, for up to {@value Compute#ROWS_AT_ONCE}
 * consecutive rows and all heads of queries that share it: each page is read and widened once for
 * all of them. Prefill chunks and decodes are the same to it. Pages are taken in the order of
 * positions, a query's sums live in lanes of its own, and a page that a query may not see leaves
 * its sums as they are: so a row's result does not depend on the rows it is computed with.
 */
public final class PagedAttention {
  private final Compute compute;
  private final KvPages pages;
  private final int groupHeads;
  private final Workers.Region region = this::attend;

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
    compute.workers().run(region);
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
    int size = pages.headSize();
    int position = rows.contextBefore(sequence) + from;
    int row = rows.firstRow(sequence) + from;
    int used = count * groupHeads;
    int padded = Math.ceilDiv(used, 4) * 4;
    gather(row, head, count, scratch.queries);
    Arrays.fill(scratch.queries, used * size, padded * size, 0);
    Arrays.fill(scratch.outputs, 0, padded * size, 0);
    Arrays.fill(scratch.lanes, 0, padded * 16, 0);
    Arrays.fill(scratch.maxima, Float.NEGATIVE_INFINITY);

    int last = position + count - 1;
    int firstSeen = window == 0 ? 0 : Math.max(0, position - window + 1);
    for (int page = firstSeen / KvPages.TOKENS; page <= last / KvPages.TOKENS; page++) {
      pages.read(layer, rows.block(sequence, page), head, scratch);
      page(page * KvPages.TOKENS, position, last, used, scratch);
    }
    scatter(row, head, count, scratch);
  }

  private void page(int start, int position, int last, int used, Scratch scratch) {
    int size = pages.headSize();
    int tokens = Math.min(KvPages.TOKENS, last + 1 - start);
    for (int query = 0; query < used; query += 4) {
      compute
          .kernels()
          .scores(scratch.keys, size, scratch.queries, query * size, scratch.scores, query * 16);
    }
    for (int query = 0; query < used; query++) {
      int at = query * 16;
      mask(scratch.scores, at, start, position + query / groupHeads);
      scratch.maxima[query] =
          compute
              .kernels()
              .soften(
                  scratch.scores,
                  at,
                  scratch.maxima[query],
                  scratch.lanes,
                  scratch.outputs,
                  query * size,
                  size);
    }
    for (int query = 0; query < used; query += 4) {
      compute
          .kernels()
          .weigh(
              scratch.values,
              tokens,
              size,
              scratch.scores,
              query * 16,
              scratch.outputs,
              query * size);
    }
  }

  private void mask(float[] scores, int at, int start, int position) {
    for (int t = Math.max(0, position + 1 - start); t < KvPages.TOKENS; t++) {
      scores[at + t] = Float.NEGATIVE_INFINITY;
    }
    if (window > 0) {
      int hidden = Math.min(KvPages.TOKENS, position - window + 1 - start);
      for (int t = 0; t < hidden; t++) {
        scores[at + t] = Float.NEGATIVE_INFINITY;
      }
    }
  }

  private int at(int row, int head) {
    return (row * pages.heads() + head) * groupHeads * pages.headSize();
  }

  private void gather(int row, int head, int count, float[] into) {
    int numbers = groupHeads * pages.headSize();
    for (int i = 0; i < count; i++) {
      System.arraycopy(queries, at(row + i, head), into, i * numbers, numbers);
    }
  }

  private void scatter(int row, int head, int count, Scratch scratch) {
    int size = pages.headSize();
    for (int query = 0; query < count * groupHeads; query++) {
      float sum = 0;
      for (int i = query * 16; i < query * 16 + 16; i++) {
        sum += scratch.lanes[i];
      }
      int to = at(row + query / groupHeads, head) + query % groupHeads * size;
      for (int d = 0; d < size; d++) {
        out[to + d] = scratch.outputs[query * size + d] / sum;
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
