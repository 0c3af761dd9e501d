package dev.flotilla.gguf.tensor;

import dev.flotilla.gguf.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * A tensor's bytes where they lie in the mapped file.
 *
 * @param dims elements per dimension, the fastest first: {@code [columns, rows, …]}
 * @param data read-only, exactly the tensor's bytes, rows one behind the other; little-endian
 */
public record Tensor(String name, TensorType type, List<Long> dims, MemorySegment data) {
  public Tensor {
    dims = List.copyOf(dims);
  }

  /** Elements of one row. */
  public long columns() {
    return dims.getFirst();
  }

  /** Rows, over all further dimensions. */
  public long rows() {
    return data.byteSize() / rowBytes();
  }

  /** Bytes of one row. */
  public long rowBytes() {
    return type.rowBytes(columns());
  }

  /** The bytes of one row. */
  public MemorySegment row(long index) {
    return data.asSlice(index * rowBytes(), rowBytes());
  }

  /**
   * The numbers of one row.
   *
   * @param into as long as the row at least
   */
  public void read(long row, float[] into) {
    Dequantizer.read(type, data, row * rowBytes(), into, Math.toIntExact(columns()));
  }
}
