package dev.flotilla.engine.model;

import dev.flotilla.engine.kernel.PackedMatrix;
import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorInfo;
import dev.flotilla.gguf.TensorType;
import java.util.List;
import java.util.Optional;

/** What a header says of a model before its weights are read, checked once for all that need it. */
public final class ModelOutline {
  private final GgufHeader header;
  private final ModelShape shape;

  private ModelOutline(GgufHeader header, ModelShape shape) {
    this.header = header;
    this.shape = shape;
  }

  /**
   * Reads it.
   *
   * @throws ModelRefused where this engine can't compute the model
   */
  public static ModelOutline of(GgufHeader header) throws ModelRefused {
    String word = header.architecture();
    Architecture architecture =
        Architectures.named(word)
            .orElseThrow(() ->
                new ModelRefused(
                    "the architecture '%s' is not computed; these are: %s"
                        .formatted(word.replaceAll("\\p{Cntrl}", "?"), Architectures.words())));
    return new ModelOutline(header, architecture.shape(new Hyperparameters(header)));
  }

  GgufHeader header() {
    return header;
  }

  ModelShape shape() {
    return shape;
  }

  /** Tokens that one sequence may have, by the model's training. */
  public int contextMax() {
    return shape.contextMax();
  }

  /** The shape of the cache, with numbers of that type. */
  public KvLayout kvLayout(KvType type) {
    return shape.kvLayout(type);
  }

  /** What the model's matrices take when they are packed. */
  public long weightBytes() {
    return header.tensors().stream().mapToLong(ModelOutline::packedBytes).sum();
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
}
