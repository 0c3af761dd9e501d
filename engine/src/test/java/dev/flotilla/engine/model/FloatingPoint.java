package dev.flotilla.engine.model;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorType;
import dev.flotilla.gguf.tensor.MappedTensors;
import dev.flotilla.gguf.tensor.Tensor;
import dev.flotilla.testkit.model.GgufKeys;
import dev.flotilla.testkit.model.GgufWriter;
import dev.flotilla.testkit.model.RandomBlocks;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;

/** A model file's weights once more in a floating-point type: the same model, but for rounding. */
final class FloatingPoint {
  private FloatingPoint() {}

  /** Writes the model with its matrices in that type; vectors stay as they are. */
  static Path write(Path model, RandomBlocks type, Path file) throws Exception {
    GgufWriter writer = new GgufWriter();
    GgufKeys.of(model, "").forEach((key, value) -> writer.raw(key, value.type(), value.bytes()));
    try (MappedTensors tensors = MappedTensors.of(GgufHeader.read(model))) {
      for (Tensor tensor : tensors.all()) {
        RandomBlocks to = tensor.type() == TensorType.F32 ? RandomBlocks.F32 : type;
        long[] dims = tensor.dims().stream().mapToLong(Long::longValue).toArray();
        writer.tensorFrom(
            tensor.name(),
            to.id(),
            to.bytes(tensor.columns() * tensor.rows()),
            out -> rows(tensor, to, out),
            dims);
      }
      return writer.write(file);
    }
  }

  private static void rows(Tensor tensor, RandomBlocks type, OutputStream out) throws IOException {
    float[] row = new float[Math.toIntExact(tensor.columns())];
    ByteBuffer bytes = ByteBuffer.allocate((int) type.bytes(row.length));
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    for (long r = 0; r < tensor.rows(); r++) {
      tensor.read(r, row);
      bytes.clear();
      for (float number : row) {
        if (type == RandomBlocks.F32) {
          bytes.putFloat(number);
        } else {
          bytes.putShort(Float.floatToFloat16(number));
        }
      }
      out.write(bytes.array());
    }
  }
}
