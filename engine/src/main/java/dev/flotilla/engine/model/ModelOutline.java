package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.PackedMatrix;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.gguf.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * What a header says of a model before its weights are read.
 *
 * @param contextMax tokens that one sequence may have, by the model's training
 * @param layers layers that have keys and values
 * @param kvHeads heads of keys and values
 * @param headSize numbers of one head
 * @param weightBytes what its matrices take when they are packed
 */
public record ModelOutline(
    int contextMax, int layers, int kvHeads, int headSize, long weightBytes) {

  /**
   * Reads it.
   *
   * @throws ModelRefused where this engine can't compute the model
   */
  public static ModelOutline of(GgufHeader header) throws ModelRefused {
    ModelShape shape = LoadedModel.shape(header);
    return new ModelOutline(
        shape.contextMax(),
        shape.layers().size(),
        shape.kvHeads(),
        shape.headSize(),
        header.tensors().stream().mapToLong(ModelOutline::packedBytes).sum());
  }

  /** Nothing for a vector, nor for what no model is computed with. */
  private static long packedBytes(TensorInfo tensor) {
    Optional<TensorType> type = TensorType.of(tensor.typeId()).filter(PackedMatrix::supports);
    List<Long> dims = tensor.dims();
    if (type.isEmpty()
        || dims.size() != 2
        || dims.stream().anyMatch(size -> size > Hyperparameters.SIZE_MAX)) {
      return 0;
    }
    return PackedMatrix.bytes(type.get(), dims.get(1).intValue(), dims.get(0).intValue());
  }

  /** The shape of the cache, with numbers of that type. */
  public KvLayout kvLayout(KvType type) {
    return new KvLayout(layers, kvHeads, headSize, type);
  }
}
