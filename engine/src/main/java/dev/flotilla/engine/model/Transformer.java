package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.Activations;
import dev.flotilla.engine.kernel.Compute;
import dev.flotilla.engine.kernel.KvPages;
import dev.flotilla.engine.kernel.PagedAttention;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.engine.model.StepClock.Part;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Computes steps of a {@link LoadedModel}: the runner of all architectures, which differ in their
 * {@link ModelShape} alone.
 *
 * <p>All rows of a step go through each layer together: products of all rows with each matrix, what
 * concerns one row alone (norms, rotation, storing keys and values) row by row, attention by pieces
 * of sequences. Whatever is made of a row is made of that row's numbers in one order, so neither
 * the other rows nor the threads change a bit of it; see {@link
 * dev.flotilla.engine.kernel.Compute}.
 *
 * <p>All buffers are made by the constructor for the largest step. A step's inputs are fields,
 * since a lambda that captures them would be allocated. Life: made for a model, run by one thread
 * at a time, closed before the model; closing frees the pages.
 */
public final class Transformer implements ModelRunner, AutoCloseable {
  private final LoadedModel model;
  private final ModelShape shape;
  private final KvLayout layout;
  private final int rowsMax;
  private final Workers workers;
  private final Compute compute;
  private final KvCache cache;
  private final KvPages pages;
  private final PagedAttention attention;
  private final Rope[] ropes;
  private final Rope[] ropeOfLayer;

  private final float[] stream;
  private final float[] normed;
  private final float[] queries;
  private final float[] keys;
  private final float[] values;
  private final float[] attended;
  private final float[] added;
  private final float[] gate;
  private final float[] up;
  private final Activations narrow;
  private final Activations wide;
  private int layersRun;

  private final Workers.Region rowRegion = this::rowsOn;
  private final IntConsumer embed = this::embed;
  private final IntConsumer normAttention = this::normAttention;
  private final IntConsumer store = this::store;
  private final IntConsumer addAttention = this::addAttention;
  private final IntConsumer addFeed = this::addFeed;
  private final IntConsumer normOutput = this::normOutput;

  private PackedStep step;
  private int layer;
  private LayerWeights weights;
  private IntConsumer rowTask = row -> {};
  private int rowCount;
  private @Nullable StepClock clock;

  /**
   * A runner with a cache of its own.
   *
   * @param blocks of the cache
   * @param rowsMax rows of the largest step
   */
  public Transformer(LoadedModel model, KvType kvType, int blocks, int rowsMax, Workers workers) {
    this(model, new KvCache(model.kvLayout(kvType), blocks), rowsMax, workers);
  }

  /**
   * A runner with a cache that was made for it, which is closed with it.
   *
   * @param cache of the model's layout
   * @param rowsMax rows of the largest step
   */
  public Transformer(LoadedModel model, KvCache cache, int rowsMax, Workers workers) {
    this.model = model;
    this.cache = cache;
    this.rowsMax = rowsMax;
    this.workers = workers;
    shape = model.shape();
    layout = cache.layout();
    int widest = Math.max(Math.max(shape.width(), shape.queryWidth()), shape.feedForward());
    compute = new Compute(workers, widest, shape.headSize(), shape.groupHeads());
    pages = cache.pages();
    attention = new PagedAttention(compute, pages, shape.groupHeads());
    Map<ModelShape.Layer, Rope> made = new HashMap<>();
    ropeOfLayer = new Rope[layout.layers()];
    for (int i = 0; i < ropeOfLayer.length; i++) {
      ropeOfLayer[i] =
          made.computeIfAbsent(
              shape.layers().get(i), kind -> new Rope(shape, kind, model.ropeFactors(), rowsMax));
    }
    ropes = made.values().toArray(new Rope[0]);
    stream = new float[rowsMax * shape.width()];
    normed = new float[rowsMax * shape.width()];
    queries = new float[rowsMax * shape.queryWidth()];
    keys = new float[rowsMax * shape.kvWidth()];
    values = new float[rowsMax * shape.kvWidth()];
    attended = new float[rowsMax * shape.queryWidth()];
    added = new float[rowsMax * shape.width()];
    gate = new float[rowsMax * shape.feedForward()];
    up = new float[rowsMax * shape.feedForward()];
    narrow = new Activations(rowsMax, Math.max(shape.width(), shape.queryWidth()));
    wide = new Activations(rowsMax, shape.feedForward());
    step = new PackedStep(0, 0, 0);
    weights = model.layer(0);
    layersRun = layout.layers();
  }

  /**
   * Has steps go through the first layers alone, among which all kinds are: what they make is
   * nothing, and they do all that whole steps do, with the same buffers, in a part of the time.
   */
  public void runFirstOfAllKinds() {
    layersRun = Math.min(ModelShape.LAYER_KINDS, layout.layers());
  }

  /** Has steps go through all layers, as they do at first. */
  public void runAll() {
    layersRun = layout.layers();
  }

  @Override
  public int vocabulary() {
    return shape.vocabulary();
  }

  @Override
  public int contextMax() {
    return shape.contextMax();
  }

  @Override
  public int width() {
    return shape.width();
  }

  @Override
  public KvLayout kvLayout() {
    return layout;
  }

  @Override
  public int kvBlocks() {
    return pages.blocks();
  }

  /** The pages of the cache, whose memory is not taken yet. */
  public KvPages pages() {
    return pages;
  }

  /** Which kernels compute, in words. */
  public String kernels() {
    return compute.description();
  }

  @Override
  public void run(PackedStep rows, Logits out) {
    rows.checkComplete(shape.vocabulary(), pages.blocks());
    if (rows.rows() > rowsMax) {
      throw new IllegalArgumentException("%d rows, at most %d".formatted(rows.rows(), rowsMax));
    }
    out.begin(rows.markedForLogits());
    step = rows;
    int count = rows.rows();
    if (count == 0) {
      return;
    }
    StepClock timed = clock;
    if (timed != null) {
      timed.begin();
    }
    each(count, embed);
    passed(Part.EMBED);
    int last = layersRun - 1;
    for (layer = 0; layer < last; layer++) {
      weights = model.layer(layer);
      attend(count);
      feedBehindAttention(count);
    }
    weights = model.layer(last);
    attend(count);
    // behind the last keys and values nobody reads what the unmarked rows would become
    int marked = rows.marked();
    if (marked > 0) {
      keepMarked(marked);
      feedBehindAttention(marked);
      each(marked, normOutput);
      int speaking = rows.markedForLogits();
      if (speaking < marked) {
        pool(marked);
      }
      passed(Part.ROWS);
      if (speaking > 0) {
        compute.quantise(narrow, model.output(), normed, speaking, shape.width(), shape.width());
        passed(Part.QUANTISE);
        compute.product(narrow, model.output(), out.rowArrays());
        passed(Part.LOGITS);
      }
    }
  }

  /** Adds what pooled rows have become to their sums, and moves the others to the front. */
  private void pool(int marked) {
    int width = shape.width();
    int others = 0;
    for (int i = 0; i < marked; i++) {
      double[] sum = step.sum(step.sequenceOf(step.markedRow(i)));
      if (sum == null) {
        System.arraycopy(normed, i * width, normed, others * width, width);
        others++;
      } else {
        for (int k = 0; k < width; k++) {
          sum[k] += normed[i * width + k];
        }
      }
    }
  }

  /** Moves what the marked rows have become to the front; they rise, so none is overwritten. */
  private void keepMarked(int marked) {
    int queryWidth = shape.queryWidth();
    for (int i = 0; i < marked; i++) {
      int row = step.markedRow(i);
      if (row != i) {
        System.arraycopy(stream, row * shape.width(), stream, i * shape.width(), shape.width());
        System.arraycopy(attended, row * queryWidth, attended, i * queryWidth, queryWidth);
      }
    }
  }

  /** Has the time of steps measured from now on. */
  public void measure(StepClock by) {
    clock = by;
  }

  private void passed(Part part) {
    StepClock timed = clock;
    if (timed != null) {
      timed.passed(part);
    }
  }

  private void attend(int count) {
    each(count, normAttention);
    passed(Part.ROWS);
    compute.quantise(narrow, weights.query(), normed, count, shape.width(), shape.width());
    passed(Part.QUANTISE);
    compute.products(
        narrow, weights.query(), queries, weights.key(), keys, weights.value(), values);
    passed(Part.QUERIES);
    each(count, store);
    passed(Part.ROWS);
    attention.run(step, layer, shape.layers().get(layer).window(), queries, attended);
    passed(Part.ATTENTION);
  }

  private void feedBehindAttention(int count) {
    compute.quantise(
        narrow, weights.attentionOut(), attended, count, shape.queryWidth(), shape.queryWidth());
    passed(Part.QUANTISE);
    compute.product(narrow, weights.attentionOut(), added);
    passed(Part.ATTENTION_OUT);
    each(count, addAttention);
    passed(Part.ROWS);
    compute.quantise(narrow, weights.gate(), normed, count, shape.width(), shape.width());
    passed(Part.QUANTISE);
    compute.products(narrow, weights.gate(), gate, weights.up(), up);
    compute.gate(gate, up, count * shape.feedForward(), shape.gelu());
    passed(Part.FEED_UP);
    compute.quantise(wide, weights.down(), gate, count, shape.feedForward(), shape.feedForward());
    passed(Part.QUANTISE);
    compute.product(wide, weights.down(), added);
    passed(Part.FEED_DOWN);
    each(count, addFeed);
    passed(Part.ROWS);
  }

  private void each(int count, IntConsumer task) {
    if (count == 1) {
      task.accept(0);
      return;
    }
    rowTask = task;
    rowCount = count;
    workers.run(rowRegion);
  }

  private void rowsOn(int worker) {
    for (int row = workers.claim(); row < rowCount; row = workers.claim()) {
      rowTask.accept(row);
    }
  }

  private void embed(int row) {
    int at = row * shape.width();
    model.embeddings().row(step.token(row), stream, at);
    if (shape.embeddingScale() != 1f) {
      for (int i = at; i < at + shape.width(); i++) {
        stream[i] *= shape.embeddingScale();
      }
    }
    for (Rope rope : ropes) {
      rope.position(row, step.position(row));
    }
  }

  private void normAttention(int row) {
    int at = row * shape.width();
    Norm.rms(stream, at, weights.attentionNorm(), shape.normEpsilon(), normed, at);
  }

  /** Finishes the row's queries and keys, and stores its keys and values. */
  private void store(int row) {
    int size = shape.headSize();
    int q = row * shape.queryWidth();
    int k = row * shape.kvWidth();
    add(weights.queryBias(), queries, q);
    add(weights.keyBias(), keys, k);
    add(weights.valueBias(), values, k);
    Rope rope = ropeOfLayer[layer];
    for (int head = 0; head < shape.heads(); head++) {
      finish(row, queries, q + head * size, weights.queryNorm(), rope, shape.queryScale());
    }
    for (int head = 0; head < shape.kvHeads(); head++) {
      finish(row, keys, k + head * size, weights.keyNorm(), rope, 1f);
    }
    int position = step.position(row);
    int block = step.block(step.sequenceOf(row), position / KvLayout.PAGE_TOKENS);
    pages.write(layer, block, position % KvLayout.PAGE_TOKENS, keys, k, values, k);
  }

  private void finish(int row, float[] x, int at, float[] norm, Rope rope, float scale) {
    if (norm.length > 0) {
      Norm.rms(x, at, norm, shape.normEpsilon(), x, at);
    }
    rope.turn(row, x, at, scale);
  }

  private static void add(float[] bias, float[] to, int at) {
    for (int i = 0; i < bias.length; i++) {
      to[at + i] += bias[i];
    }
  }

  private void addAttention(int row) {
    int at = row * shape.width();
    addToStream(at, weights.attentionPostNorm());
    Norm.rms(stream, at, weights.feedNorm(), shape.normEpsilon(), normed, at);
  }

  private void addFeed(int row) {
    addToStream(row * shape.width(), weights.feedPostNorm());
  }

  private void addToStream(int at, float[] postNorm) {
    if (postNorm.length > 0) {
      Norm.rms(added, at, postNorm, shape.normEpsilon(), added, at);
    }
    for (int i = at; i < at + shape.width(); i++) {
      stream[i] += added[i];
    }
  }

  private void normOutput(int row) {
    int at = row * shape.width();
    Norm.rms(stream, at, model.outputNorm(), shape.normEpsilon(), normed, at);
  }

  @Override
  public void close() {
    cache.close();
  }
}
