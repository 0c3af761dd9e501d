package dev.flotilla.engine.model;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.TensorInfo;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A model file once more, with the last bit of its first norm's weights turned over. */
final class LastBit {
  private LastBit() {}

  /** Writes it: each of a few hundred numbers is another by a part in ten million. */
  static Path write(Path model, Path file) throws Exception {
    Files.copy(model, file);
    TensorInfo norm =
        GgufHeader.read(file).tensors().stream()
            .filter(tensor -> tensor.name().equals("blk.0.attn_norm.weight"))
            .findFirst()
            .orElseThrow();
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer numbers =
          channel.map(FileChannel.MapMode.READ_WRITE, norm.position(), norm.bytes());
      for (int at = 0; at < numbers.capacity(); at += Float.BYTES) {
        numbers.put(at, (byte) (numbers.get(at) ^ 1)); // little-endian: the lowest byte is first
      }
    }
    return file;
  }
}
