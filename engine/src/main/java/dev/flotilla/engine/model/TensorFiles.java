package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.PackedMatrix;
import dev.flotilla.engine.kernel.Workers;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.gguf.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The tensors of a model file, mapped while they are repacked and not longer. Every tensor that is
 * asked for must have the dimensions that the model's shape wants; {@link #checkAllUsed} refuses a
 * file with weights that nobody asked for, since a model without them would say something else.
 */
final class TensorFiles implements AutoCloseable {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Map<String, TensorInfo> tensors = new HashMap<>();
  private final Map<Path, MemorySegment> files = new HashMap<>();
  private final Set<String> used = new HashSet<>();
  private final Arena mapping = Arena.ofShared();
  private final Arena weights;
  private final Workers workers;

  /** Maps the files; what is packed lives in {@code weights}. */
  TensorFiles(GgufHeader header, Arena weights, Workers workers) throws IOException {
    this.weights = weights;
    this.workers = workers;
    for (TensorInfo tensor : header.tensors()) {
      tensors.put(tensor.name(), tensor);
    }
    for (Path file : header.files()) {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        files.put(
            file, channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), mapping));
      }
    }
  }

  boolean has(String name) {
    return tensors.containsKey(name);
  }

  /** A matrix of so many rows of so many columns. */
  PackedMatrix matrix(String name, int rows, int columns) throws ModelRefused {
    TensorInfo tensor = tensor(name, List.of((long) columns, (long) rows));
    return PackedMatrix.pack(type(tensor), rows, columns, data(tensor), weights, workers);
  }

  /** A vector, which files keep in single precision. */
  float[] vector(String name, int length) throws ModelRefused {
    TensorInfo tensor = tensor(name, List.of((long) length));
    if (type(tensor) != TensorType.F32) {
      throw new ModelRefused(
          "the tensor %s is of type %s, vectors are read in F32".formatted(name, type(tensor)));
    }
    float[] vector = new float[length];
    MemorySegment.copy(data(tensor), FLOAT, 0, vector, 0, length);
    return vector;
  }

  /** Refuses the file if it has tensors that were not asked for. */
  void checkAllUsed() throws ModelRefused {
    for (String name : tensors.keySet()) {
      if (!used.contains(name)) {
        throw new ModelRefused(
            "the file has the tensor %s, of which this architecture knows nothing"
                .formatted(name.replaceAll("\\p{Cntrl}", "?")));
      }
    }
  }

  private TensorInfo tensor(String name, List<Long> dims) throws ModelRefused {
    TensorInfo tensor = tensors.get(name);
    if (tensor == null) {
      throw new ModelRefused("the file lacks the tensor " + name);
    }
    if (!tensor.dims().equals(dims)) {
      throw new ModelRefused(
          "the tensor %s has the dimensions %s, the model's are %s"
              .formatted(name, tensor.dims(), dims));
    }
    used.add(name);
    return tensor;
  }

  private static TensorType type(TensorInfo tensor) throws ModelRefused {
    TensorType type =
        TensorType.of(tensor.typeId())
            .orElseThrow(() ->
                new ModelRefused(
                    "the tensor %s is of the unknown type %d"
                        .formatted(tensor.name(), tensor.typeId())));
    if (!PackedMatrix.supports(type)) {
      throw new ModelRefused(
          "the tensor %s is of type %s, which is not computed".formatted(tensor.name(), type));
    }
    return type;
  }

  private MemorySegment data(TensorInfo tensor) throws ModelRefused {
    MemorySegment file = files.get(tensor.file());
    if (file == null || tensor.offset() + tensor.bytes() > file.byteSize()) {
      throw new ModelRefused("the file became shorter while it was loaded");
    }
    return file.asSlice(tensor.offset(), tensor.bytes());
  }

  @Override
  public void close() {
    mapping.close();
  }
}
