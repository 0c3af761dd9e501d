package dev.flotilla.engine.model;

import com.google.errorprone.annotations.MustBeClosed;
import dev.flotilla.engine.kernel.PackedMatrix;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.TensorType;
import dev.flotilla.gguf.tensor.MappedTensors;
import dev.flotilla.gguf.tensor.Tensor;
import java.lang.foreign.SegmentAllocator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The tensors of a model file, mapped while they are repacked and not longer. Every tensor that is
 * asked for must have the dimensions that the model's shape wants; {@link #checkAllUsed} refuses a
 * file with weights that nobody asked for, since a model without them would say something else.
 */
final class TensorFiles implements Weights, AutoCloseable {
  private final MappedTensors tensors;
  private final Set<String> used = new HashSet<>();
  private final SegmentAllocator weights;
  private final Workers workers;

  /** Maps the files; what is packed lives in {@code weights}. */
  @MustBeClosed
  @SuppressWarnings("MustBeClosedChecker") // with this object
  TensorFiles(GgufHeader header, SegmentAllocator weights, Workers workers) throws GgufRefused {
    this.weights = weights;
    this.workers = workers;
    tensors = MappedTensors.of(header);
  }

  @Override
  public boolean has(String name) {
    return tensors.find(name).isPresent();
  }

  @Override
  public PackedMatrix matrix(String name, int rows, int columns) throws ModelRefused {
    Tensor tensor = tensor(name, List.of((long) columns, (long) rows));
    if (!PackedMatrix.supports(tensor.type())) {
      throw new ModelRefused(
          "the tensor %s is of type %s, which is not computed".formatted(name, tensor.type()));
    }
    return PackedMatrix.pack(tensor.type(), rows, columns, tensor.data(), weights, workers);
  }

  /** Files keep vectors in single precision. */
  @Override
  public float[] vector(String name, int length) throws ModelRefused {
    Tensor tensor = tensor(name, List.of((long) length));
    if (tensor.type() != TensorType.F32) {
      throw new ModelRefused(
          "the tensor %s is of type %s, vectors are read in F32".formatted(name, tensor.type()));
    }
    float[] vector = new float[length];
    tensor.read(0, vector);
    return vector;
  }

  /** Refuses the file if it has tensors that were not asked for. */
  void checkAllUsed() throws ModelRefused {
    for (Tensor tensor : tensors.all()) {
      if (!used.contains(tensor.name())) {
        throw new ModelRefused(
            "the file has the tensor %s, of which this architecture knows nothing"
                .formatted(tensor.name().replaceAll("\\p{Cntrl}", "?")));
      }
    }
  }

  private Tensor tensor(String name, List<Long> dims) throws ModelRefused {
    Tensor tensor = tensors.find(name).orElseThrow(() -> lacking(name));
    if (!tensor.dims().equals(dims)) {
      throw otherDims(name, tensor.dims(), dims);
    }
    used.add(name);
    return tensor;
  }

  static ModelRefused lacking(String name) {
    return new ModelRefused("the file lacks the tensor " + name);
  }

  static ModelRefused otherDims(String name, List<Long> dims, List<Long> wanted) {
    return new ModelRefused(
        "the tensor %s has the dimensions %s, the model's are %s".formatted(name, dims, wanted));
  }

  @Override
  public void close() {
    tensors.close();
  }
}
