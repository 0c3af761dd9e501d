package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.PackedMatrix;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.gguf.TensorType;
import java.lang.foreign.SegmentAllocator;
import java.util.HashMap;
import java.util.Map;

/**
 * Weights that mean nothing, of the types that a file's have, in whatever sizes are asked for. None
 * is zero, since what is computed with zeros takes other ways than what is computed with weights.
 * What the file lacks, or has in a type that is not computed, is made up all the same: whoever
 * reads the file refuses it.
 */
final class MadeUpWeights implements Weights {
  private final Map<String, TensorType> types = new HashMap<>();
  private final SegmentAllocator memory;

  MadeUpWeights(GgufHeader header, SegmentAllocator memory) {
    this.memory = memory;
    for (TensorInfo tensor : header.tensors()) {
      TensorType.of(tensor.typeId())
          .filter(PackedMatrix::supports)
          .ifPresent(type -> types.put(tensor.name(), type));
    }
  }

  @Override
  public boolean has(String name) {
    return types.containsKey(name);
  }

  @Override
  public PackedMatrix matrix(String name, int rows, int columns) {
    return PackedMatrix.madeUp(types.getOrDefault(name, TensorType.F32), rows, columns, memory);
  }

  @Override
  public float[] vector(String name, int length) {
    float[] vector = new float[length];
    for (int i = 0; i < length; i++) {
      vector[i] = 1 + i % 3;
    }
    return vector;
  }
}
