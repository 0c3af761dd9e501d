package dev.flotilla.gguf.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.flotilla.gguf.GgufHeader;
import dev.flotilla.gguf.GgufRefused;
import dev.flotilla.gguf.MemoryArithmetic;
import dev.flotilla.testkit.model.GgufWriter;
import dev.flotilla.testkit.real.GemmaModel;
import dev.flotilla.testkit.real.Needs;
import dev.flotilla.testkit.real.SmallModel;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MappedTensorsTest {
  private static final int F32 = 0;
  private static final int Q8_0 = 8;
  private static final int IQ1_S = 19;

  @TempDir Path folder;

  @Test
  void aTensorsRowsAreReadFromTheFile() throws Exception {
    Path file =
        new GgufWriter()
            .tensor("before", F32, 8)
            .tensorOf("t", F32, floats(1, 2, 3, 4, 5, 6), 3, 2)
            .tensor("behind", Q8_0, 64, 2)
            .write(folder.resolve("m.gguf"));
    try (MappedTensors tensors = MappedTensors.of(GgufHeader.read(file))) {
      Tensor tensor = tensors.find("t").orElseThrow();
      float[] row = new float[3];
      tensor.read(1, row);
      assertThat(row).containsExactly(4, 5, 6);
      assertThat(tensor.columns()).isEqualTo(3);
      assertThat(tensor.rows()).isEqualTo(2);
      assertThat(tensor.row(1).byteSize()).isEqualTo(12);
      assertThat(tensor.data().isReadOnly()).isTrue();
      assertThat(tensors.find("behind").orElseThrow().data().byteSize()).isEqualTo(4 * 34);
      assertThat(tensors.find("none")).isEmpty();
      assertThat(tensors.all()).extracting(Tensor::name).containsExactly("before", "t", "behind");
    }
  }

  @Test
  void nothingIsReadAfterTheEnd() throws Exception {
    Path file = new GgufWriter().tensor("t", F32, 8).write(folder.resolve("m.gguf"));
    Tensor tensor;
    try (MappedTensors tensors = MappedTensors.of(GgufHeader.read(file))) {
      tensor = tensors.find("t").orElseThrow();
    }
    assertThatThrownBy(() -> tensor.read(0, new float[8]))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void theTensorsOfAllPartsAreThere() throws Exception {
    Path first = part(0, floats(1), "a");
    part(1, floats(2), "b");
    try (MappedTensors tensors = MappedTensors.of(GgufHeader.read(first))) {
      float[] number = new float[1];
      tensors.find("b").orElseThrow().read(0, number);
      assertThat(number).containsExactly(2);
    }
  }

  @Test
  void aTensorInTwoPartsIsRefused() throws Exception {
    Path first = part(0, floats(1), "a");
    part(1, floats(2), "a");
    assertThatThrownBy(() -> GgufHeader.read(first))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining("has the tensor 'a' in two parts");
  }

  @Test
  void aTypeThatCantBeReadIsRefusedByName() throws IOException {
    assertRefused(
        new GgufWriter().tensor("blk.0.x", IQ1_S, 256), "the tensor 'blk.0.x' is stored as IQ1_S");
    assertRefused(
        new GgufWriter().tensor("t", 77, 8), "the tensor 't' is stored as the unknown type 77");
  }

  @Test
  void aFileThatWasCutSinceIsRefused() throws Exception {
    Path file = new GgufWriter().tensor("t", F32, 4096).write(folder.resolve("m.gguf"));
    GgufHeader header = GgufHeader.read(file);
    try (RandomAccessFile cut = new RandomAccessFile(file.toFile(), "rw")) {
      cut.setLength(8000);
    }
    assertThatThrownBy(() -> MappedTensors.of(header).close())
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining("has become shorter since its header was read");
  }

  @Test
  void anArchitectureThatIsNotKnownIsRefusedByName() throws Exception {
    GgufHeader header =
        GgufHeader.read(
            new GgufWriter()
                .text("general.architecture", "mamba\u001b")
                .write(folder.resolve("m.gguf")));
    assertThatThrownBy(() -> header.architecture(List.of("llama", "qwen2")))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining("has the architecture 'mamba?'; known are llama, qwen2");
    assertThat(
            GgufHeader.read(GgufWriter.tinyLlama().write(folder.resolve("l.gguf")))
                .architecture(List.of("llama", "qwen2")))
        .isEqualTo("llama");
  }

  /** Real weights: every tensor is there to its last byte, and its first row is of sane numbers. */
  @Test
  void realModelsAreReadWhole() throws Exception {
    Needs.packageIndex();
    for (Path model : List.of(SmallModel.gguf(), GemmaModel.gguf())) {
      GgufHeader header = GgufHeader.read(model);
      try (MappedTensors tensors = MappedTensors.of(header)) {
        assertThat(tensors.all().stream().mapToLong(tensor -> tensor.data().byteSize()).sum())
            .isEqualTo(MemoryArithmetic.weightBytes(header));
        for (Tensor tensor : tensors.all()) {
          float[] row = new float[(int) tensor.columns()];
          tensor.read(tensor.rows() - 1, row);
          float most = 0;
          for (float number : row) {
            most = Math.max(most, Math.abs(number));
          }
          assertThat(most).as(tensor.name()).isBetween(1e-6f, 1e4f);
        }
      }
    }
  }

  private Path part(int index, byte[] data, String name) throws IOException {
    return new GgufWriter()
        .u16("split.no", index)
        .u16("split.count", 2)
        .u32("split.tensors.count", 2)
        .tensorOf(name, F32, data, 1)
        .write(folder.resolve("m-%05d-of-00002.gguf".formatted(index + 1)));
  }

  private void assertRefused(GgufWriter writer, String reason) throws IOException {
    Path file = writer.write(folder.resolve("m.gguf"));
    assertThatThrownBy(() -> MappedTensors.of(GgufHeader.read(file)).close())
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining(reason);
  }

  private static byte[] floats(float... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      bytes.putFloat(value);
    }
    return bytes.array();
  }
}
