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
  static final int ROWS_AT_ONCE = 8;

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
  private int matrixCount;
  private int tilesFrom;
  private int tilesTo;

  private float[] source = new float[0];
  private int sourceStride;
  private final Workers.Region quantiseRegion = this::quantiseOn;

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
    this(choose(), workers, columnsMax, headSize, groupHeads);
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

  /** The kernels of this process; there are no others in it. */
  private static Kernels choose() {
    if (!VectorWidth.isNative()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "kernels: this machine has no vectors of {0} bits; products are computed one by one,"
              + " many times slower",
          VectorWidth.bits());
      return new ScalarKernels();
    }
    Kernels kernels = new SimdKernels();
    LOG.log(System.Logger.Level.INFO, "kernels: {0}", kernels.description());
    return kernels;
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

  /** Quantises rows of {@code columns} numbers that begin each {@code stride} numbers. */
  public void quantise(Activations into, float[] from, int rows, int columns, int stride) {
    into.begin(rows, columns);
    inputs = into;
    source = from;
    sourceStride = stride;
    if (into.tiles() == 1) {
      into.quantise(0, from, 0, stride);
    } else {
      workers.run(quantiseRegion);
    }
  }

  private void quantiseOn(int worker) {
    for (int tile = workers.claim(); tile < inputs.tiles(); tile = workers.claim()) {
      inputs.quantise(tile, source, 0, sourceStride);
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
    matrixCount = count;
    for (tilesFrom = 0; tilesFrom < x.tiles(); tilesFrom = tilesTo) {
      tilesTo = Math.min(x.tiles(), tilesFrom + TILES_AT_ONCE);
      workers.run(productRegion);
    }
  }

  private void productOn(int worker) {
    Scratch scratch = scratches[worker];
    int groups = 0;
    for (int m = 0; m < matrixCount; m++) {
      groups += matrices[m].groups();
    }
    int piece = Math.max(1, groups / (workers.size() * 8));
    for (int from = workers.claim() * piece; from < groups; from = workers.claim() * piece) {
      for (int group = from; group < Math.min(groups, from + piece); group++) {
        int m = 0;
        int inMatrix = group;
        while (inMatrix >= matrices[m].groups()) {
          inMatrix -= matrices[m++].groups();
        }
        group(m, inMatrix, scratch);
      }
    }
  }

  private void group(int m, int group, Scratch scratch) {
    PackedMatrix matrix = matrices[m];
    long at = group * matrix.groupBytes();
    scratch.hasMins = matrix.hasMins();
    scratch.halfBlocks = matrix.halfBlocks();
    if (matrix.form() != PackedMatrix.Form.FLOATS) {
      matrix.unpackScales(group, scratch);
    }
    for (int tile = tilesFrom; tile < tilesTo; tile++) {
      switch (matrix.form()) {
        case NIBBLES ->
            kernels.nibbles(matrix.data(), at, matrix.scalesPerRow(), inputs, tile, scratch);
        case BYTES ->
            kernels.bytes(
                matrix.data(),
                at,
                matrix.scalesPerRow(),
                matrix.halfBlocks(),
                inputs,
                tile,
                scratch);
        case FLOATS -> floats(matrix, at, tile, scratch);
      }
      store(m, matrix, group, tile, scratch);
    }
  }

  private void floats(PackedMatrix matrix, long at, int tile, Scratch scratch) {
    Arrays.fill(scratch.out, 0);
    for (int k = 0; k < matrix.columns(); k += Scratch.PANEL) {
      int count = Math.min(Scratch.PANEL, matrix.columns() - k);
      matrix.unpackPanel(at, k, count, scratch);
      kernels.floats(k, count, inputs, tile, scratch);
    }
  }

  private void store(int m, PackedMatrix matrix, int group, int tile, Scratch scratch) {
    int first = inputs.tileFirst[tile];
    int columns = Math.min(inputs.tileWidth[tile], inputs.rows() - first);
    int row = group * PackedMatrix.GROUP;
    int count = Math.min(PackedMatrix.GROUP, matrix.rows() - row);
    float[][] rows = rowOutputs;
    for (int c = 0; c < columns; c++) {
      if (rows != null) {
        System.arraycopy(scratch.out, c * 32, rows[first + c], row, count);
      } else {
        System.arraycopy(scratch.out, c * 32, outputs[m], (first + c) * matrix.rows() + row, count);
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
