package dev.flotilla.engine.kernel;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The operations that models are made of, on all threads: products of the step's rows with
 * matrices, attention over pages, the gates between.
 *
 * <p>Made once for the largest step. An operation sets its inputs as fields and runs a region that
 * was made in the constructor, so that none allocates. One thread calls it at a time.
 */
public final class Compute {
  private static final System.Logger LOG = System.getLogger(Compute.class.getName());

  /** Query rows of one sequence that one thread takes through its pages at once. */
  static final int ROWS_AT_ONCE = 16;

  /** Columns that meet all groups of a matrix before the next do: what fits the second cache. */
  private static final int TILES_AT_ONCE = 16;

  /** Numbers of a gate that one thread takes at once; fewer are done by the caller. */
  private static final int GATE_PIECE = 2048;

  private final Kernels kernels;
  private final Workers workers;
  private final Scratch[] scratches;
  private final Workers.Region productRegion = this::productOn;
  private final PackedMatrix[] matrices = new PackedMatrix[4];
  private final float[][] outputs = new float[4][];
  private Activations inputs = new Activations(1, 32);
  private int matricesFrom;
  private int matricesTo;
  private int tilesFrom;
  private int tilesTo;

  private final Workers.Region quantiseRegion = this::quantiseOn;

  private PackedMatrix.Form fillForm = PackedMatrix.Form.NIBBLES;
  private final Workers.Region fillRegion = this::fillOn;

  /** Where logits go, each row in an array of its own; null while rows share one. */
  private float @Nullable [][] rowOutputs;

  private float[] gateValues = new float[0];
  private float[] upValues = new float[0];
  private int gateCount;
  private boolean gateGelu;
  private final Workers.Region gateRegion = this::gateOn;

  /**
   * Operations for the largest step.
   *
   * @param columnsMax of any matrix
   * @param headSize of attention
   * @param groupHeads heads of queries that share one of keys
   */
  public Compute(Workers workers, int columnsMax, int headSize, int groupHeads) {
    this(Chosen.KERNELS, workers, columnsMax, headSize, groupHeads);
  }

  Compute(Kernels kernels, Workers workers, int columnsMax, int headSize, int groupHeads) {
    this.kernels = kernels;
    this.workers = workers;
    scratches = new Scratch[workers.size()];
    int queriesMax = Math.ceilDiv(ROWS_AT_ONCE * groupHeads, 4) * 4;
    for (int i = 0; i < scratches.length; i++) {
      scratches[i] = new Scratch(columnsMax, headSize, queriesMax);
    }
  }

  /** The kernels of this process, chosen once; there are no others in it. */
  private static final class Chosen {
    static final Kernels KERNELS = choose();

    private static Kernels choose() {
      if (!VectorWidth.isNative()) {
        LOG.log(
            System.Logger.Level.WARNING,
            "kernels: this machine has no vectors of {0} bits; products are computed one by one,"
                + " many times slower",
            VectorWidth.bits());
        return new ScalarKernels();
      }
      return new SimdKernels();
    }
  }

  /** Which kernels this process has, in words, without making any. */
  public static String available() {
    return (VectorWidth.isNative() ? new SimdKernels() : new ScalarKernels()).description();
  }

  /** Which kernels compute, in words. */
  public String description() {
    return kernels.description();
  }

  /** The threads. */
  public Workers workers() {
    return workers;
  }

  Kernels kernels() {
    return kernels;
  }

  Scratch scratch(int worker) {
    return scratches[worker];
  }

  /**
   * Quantises rows of {@code columns} numbers that begin each {@code stride} numbers; {@code from}
   * stays as it is until their products are made.
   *
   * @param first the matrix that they meet first. One that takes activations in another way has
   *     them quantised anew.
   */
  public void quantise(
      Activations into, PackedMatrix first, float[] from, int rows, int columns, int stride) {
    into.begin(from, rows, columns, stride);
    inputs = into;
    quantiseFor(first);
  }

  private void quantiseFor(PackedMatrix matrix) {
    int block = matrix.activationBlock();
    if (block == 0 || block == inputs.block()) {
      return;
    }
    inputs.beginBlocks(block);
    if (inputs.tiles() == 1) {
      inputs.quantise(0, kernels, scratches[0]);
    } else {
      workers.run(quantiseRegion);
    }
  }

  private void quantiseOn(int worker) {
    for (int tile = workers.claim(); tile < inputs.tiles(); tile = workers.claim()) {
      inputs.quantise(tile, kernels, scratches[worker]);
    }
  }

  private void fillOn(int worker) {
    for (int tile = workers.claim(); tile < inputs.tiles(); tile = workers.claim()) {
      inputs.fill(tile, fillForm);
    }
  }

  /** {@code out[row * matrix.rows + r]}: the rows times the matrix. */
  public void product(Activations x, PackedMatrix matrix, float[] out) {
    matrices[0] = matrix;
    outputs[0] = out;
    products(x, 1);
  }

  /** Two products of the same rows. */
  public void products(
      Activations x, PackedMatrix first, float[] firstOut, PackedMatrix second, float[] secondOut) {
    matrices[1] = second;
    outputs[1] = secondOut;
    matrices[0] = first;
    outputs[0] = firstOut;
    products(x, 2);
  }

  /** Three products of the same rows. */
  public void products(
      Activations x,
      PackedMatrix first,
      float[] firstOut,
      PackedMatrix second,
      float[] secondOut,
      PackedMatrix third,
      float[] thirdOut) {
    matrices[2] = third;
    outputs[2] = thirdOut;
    matrices[1] = second;
    outputs[1] = secondOut;
    matrices[0] = first;
    outputs[0] = firstOut;
    products(x, 3);
  }

  /** Logits: each row into an array of its own. */
  public void product(Activations x, PackedMatrix matrix, float[][] rows) {
    rowOutputs = rows;
    matrices[0] = matrix;
    products(x, 1);
    rowOutputs = null;
  }

  private void products(Activations x, int count) {
    inputs = x;
    for (matricesFrom = 0; matricesFrom < count; matricesFrom = matricesTo) {
      matricesTo = alike(matricesFrom, count);
      quantiseFor(matrices[matricesFrom]);
      for (int m = matricesFrom; m < matricesTo; m++) {
        if (x.needs(matrices[m].form())) {
          fillForm = matrices[m].form();
          workers.run(fillRegion);
          x.filled(fillForm);
        }
      }
      for (tilesFrom = 0; tilesFrom < x.tiles(); tilesFrom = tilesTo) {
        tilesTo = Math.min(x.tiles(), tilesFrom + TILES_AT_ONCE);
        workers.run(productRegion);
      }
    }
  }

  /** Where the matrices end that take activations as the first of them does. */
  private int alike(int first, int count) {
    int end = first + 1;
    while (end < count && matrices[end].activationBlock() == matrices[first].activationBlock()) {
      end++;
    }
    return end;
  }

  private void productOn(int worker) {
    Scratch scratch = scratches[worker];
    int pairs = 0;
    for (int m = matricesFrom; m < matricesTo; m++) {
      pairs += matrices[m].groupPairs();
    }
    int piece = Math.max(1, pairs / (workers.size() * 8));
    for (int from = workers.claim() * piece; from < pairs; from = workers.claim() * piece) {
      for (int pair = from; pair < Math.min(pairs, from + piece); pair++) {
        int m = matricesFrom;
        int inMatrix = pair;
        while (inMatrix >= matrices[m].groupPairs()) {
          inMatrix -= matrices[m++].groupPairs();
        }
        pair(m, inMatrix * 2, scratch);
      }
    }
  }

  /** Two neighbouring groups, or the last one alone, with the tiles of this region. */
  private void pair(int m, int first, Scratch scratch) {
    PackedMatrix matrix = matrices[m];
    int second = Math.min(first + 1, matrix.groups() - 1);
    if (matrix.form() != PackedMatrix.Form.FLOATS) {
      matrix.unpackScales(first, scratch.first);
      matrix.unpackScales(second, scratch.second);
    }
    // all tiles meet one group before they meet the other: it stays in the first cache
    int ones = tilesFrom;
    while (ones < tilesTo && inputs.tileWidth[ones] > 1) {
      ones++;
    }
    tiles(m, first, ones, scratch, scratch.first);
    if (second != first) {
      tiles(m, second, ones, scratch, scratch.second);
    }
    for (int tile = ones; tile < tilesTo; tile++) {
      one(m, first, second, tile, scratch);
    }
  }

  private void tiles(int m, int group, int end, Scratch scratch, GroupScratch with) {
    PackedMatrix matrix = matrices[m];
    long at = matrix.numbersAt(group);
    for (int tile = tilesFrom; tile < end; tile++) {
      switch (matrix.form()) {
        case NIBBLES ->
            kernels.nibbles(matrix.data(), at, matrix.scalesPerRow(), inputs, tile, with);
        case BYTES -> kernels.bytes(matrix.data(), at, matrix.scalesPerRow(), inputs, tile, with);
        case FLOATS -> floats(matrix, at, tile, scratch, with);
      }
      store(m, group, tile, with);
    }
  }

  /** A tile of one column: the two groups together. */
  private void one(int m, int first, int second, int tile, Scratch scratch) {
    PackedMatrix matrix = matrices[m];
    GroupScratch a = scratch.first;
    GroupScratch b = scratch.second;
    long at = matrix.numbersAt(first);
    long next = matrix.numbersAt(second);
    int scales = matrix.scalesPerRow();
    switch (matrix.form()) {
      case NIBBLES -> kernels.nibblePair(matrix.data(), at, next, scales, inputs, tile, a, b);
      case BYTES -> kernels.bytePair(matrix.data(), at, next, scales, inputs, tile, a, b);
      case FLOATS -> {
        floats(matrix, at, tile, scratch, a);
        floats(matrix, next, tile, scratch, b);
      }
    }
    store(m, first, tile, a);
    store(m, second, tile, b);
  }

  private void floats(PackedMatrix matrix, long at, int tile, Scratch scratch, GroupScratch with) {
    Arrays.fill(with.out, 0);
    for (int k = 0; k < matrix.columns(); k += Scratch.PANEL) {
      int count = Math.min(Scratch.PANEL, matrix.columns() - k);
      matrix.unpackPanel(at, k, count, scratch);
      kernels.floats(scratch.panel, k, count, inputs, tile, with.out);
    }
  }

  private void store(int m, int group, int tile, GroupScratch from) {
    int first = inputs.tileFirst[tile];
    int columns = Math.min(inputs.tileWidth[tile], inputs.rows() - first);
    int matrixRows = matrices[m].rows();
    int row = group * PackedMatrix.GROUP;
    int count = Math.min(PackedMatrix.GROUP, matrixRows - row);
    float[][] rows = rowOutputs;
    for (int c = 0; c < columns; c++) {
      if (rows != null) {
        System.arraycopy(from.out, c * 32, rows[first + c], row, count);
      } else {
        System.arraycopy(from.out, c * 32, outputs[m], (first + c) * matrixRows + row, count);
      }
    }
  }

  /** {@code gate = silu(gate) * up}, or with gelu. */
  public void gate(float[] gate, float[] up, int count, boolean gelu) {
    gateValues = gate;
    upValues = up;
    gateCount = count;
    gateGelu = gelu;
    if (count <= GATE_PIECE) {
      gateOn(0, count);
    } else {
      workers.run(gateRegion);
    }
  }

  private void gateOn(int worker) {
    for (int from = workers.claim() * GATE_PIECE;
        from < gateCount;
        from = workers.claim() * GATE_PIECE) {
      gateOn(from, Math.min(GATE_PIECE, gateCount - from));
    }
  }

  private void gateOn(int from, int count) {
    if (gateGelu) {
      kernels.gelu(gateValues, upValues, from, count);
    } else {
      kernels.silu(gateValues, upValues, from, count);
    }
  }
}
