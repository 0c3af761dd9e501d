package dev.flotilla.gguf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dev.flotilla.testkit.model.GgufWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GgufHeaderTest {
  @TempDir Path folder;

  @Test
  void readsWhatTheFileSaysOfItself() throws Exception {
    GgufHeader header = GgufHeader.read(GgufWriter.tinyLlama().write(folder.resolve("m.gguf")));

    assertThat(header.architecture()).isEqualTo("llama");
    assertThat(header.name()).isEqualTo("Tiny");
    assertThat(header.fileType()).isEqualTo("Q4_K_M");
    assertThat(header.contextLength()).hasValue(8192);
    assertThat(header.tensors())
        .extracting(TensorInfo::name, TensorInfo::bytes)
        .containsExactly(
            tuple("token_embd.weight", 64L * 3 * 4), tuple("output.weight", 2L * 34 * 3));
    assertThat(header.fileBytes()).isEqualTo(Files.size(header.file()));
    assertThat(header.metadata().count("tokenizer.ggml.tokens")).hasValue(3);
  }

  @Test
  void readsVersionTwoToo() throws Exception {
    Path file = GgufWriter.tinyLlama().version(2).write(folder.resolve("m.gguf"));
    assertThat(GgufHeader.read(file).version()).isEqualTo(2);
  }

  @Test
  void aValueOfAnotherKindIsNoValue() throws Exception {
    Path file =
        GgufWriter.tinyLlama()
            .u16("small", 65535)
            .bool("yes", true)
            .f32("half", 0.5f)
            .write(folder.resolve("m.gguf"));
    Metadata metadata = GgufHeader.read(file).metadata();

    assertThat(metadata.integer("small")).hasValue(65535);
    assertThat(metadata.bool("yes")).hasValue(true);
    assertThat(metadata.number("half")).hasValue(0.5);
    assertThat(metadata.text("small")).isEmpty();
    assertThat(metadata.integer("yes")).isEmpty();
    assertThat(metadata.integers("half")).isEmpty();
    assertThat(metadata.text("not there")).isEmpty();
  }

  @Test
  void longestTokenCountsBytesNotTheCharactersThatStandForThem() throws Exception {
    // "Ġthe" is four bytes of text in a byte-level vocabulary; the special token stands as it is.
    assertThat(longest("gpt2", List.of("a", "Ġthe"), 1, 1)).isEqualTo(4);
    assertThat(longest("gpt2", List.of("Ġthe", "<À|>"), 1, 3)).isEqualTo(5);
    assertThat(longest("llama", List.of("▁the", "a"), 1, 1)).isEqualTo(6);
  }

  @Test
  void aTokenizerThatMaySwallowTextHasNoLongestToken() throws Exception {
    assertThat(longest("bert", List.of("word"), 1)).isZero();
  }

  private int longest(String kind, List<String> tokens, int... types)
      throws IOException, GgufRefused {
    return GgufHeader.read(
            new GgufWriter()
                .text("tokenizer.ggml.model", kind)
                .texts("tokenizer.ggml.tokens", tokens)
                .i32s("tokenizer.ggml.token_type", types)
                .write(folder.resolve("v.gguf")))
        .longestTokenBytes();
  }

  @Test
  void aTensorOfAnUnknownTypeCountsByItsRoomAndIsReportedByNumber() throws Exception {
    Path file =
        new GgufWriter()
            .tensor("known", 0, 8)
            .tensor("strange", 77, 96)
            .tensor("last", 0, 8)
            .write(folder.resolve("m.gguf"));
    GgufHeader header = GgufHeader.read(file);

    assertThat(MemoryArithmetic.unknownTypes(header)).containsExactly(77);
    assertThat(MemoryArithmetic.weightBytes(header)).isEqualTo(32 + 96 + 32);
  }

  @Test
  void findsAllPartsOfASplitModel() throws Exception {
    Path first = part(0, 3, "big-00001-of-00003.gguf");
    part(1, 3, "big-00002-of-00003.gguf");
    part(2, 3, "big-00003-of-00003.gguf");
    GgufHeader header = GgufHeader.read(first);

    assertThat(header.files()).hasSize(3);
    assertThat(header.tensors()).extracting(TensorInfo::name).containsExactly("t0", "t1", "t2");
    assertThat(header.fileBytes()).isEqualTo(3 * Files.size(first));
  }

  @Test
  void aSplitModelWithoutAPartNamesTheMissingFile() throws Exception {
    Path first = part(0, 3, "big-00001-of-00003.gguf");
    part(1, 3, "big-00002-of-00003.gguf");
    assertRefused(first, "big-00003-of-00003.gguf: there is no such file");
  }

  @Test
  void aLaterPartNamesTheFirst() throws Exception {
    part(0, 2, "big-00001-of-00002.gguf");
    assertRefused(
        part(1, 2, "big-00002-of-00002.gguf"), "name the first part, big-00001-of-00002.gguf");
  }

  @Test
  void aPartUnderAnotherNameSaysHowItMustBeNamed() throws Exception {
    assertRefused(part(0, 2, "renamed.gguf"), "its name must end in -00001-of-00002.gguf");
  }

  @Test
  void partsOfTwoModelsAreNotOneModel() throws Exception {
    Path first = part(0, 2, "big-00001-of-00002.gguf");
    part(0, 2, "big-00002-of-00002.gguf");
    assertRefused(first, "should be part 2 of 2 and says otherwise");
  }

  private Path part(int index, int count, String name) throws IOException {
    return new GgufWriter()
        .u16("split.no", index)
        .u16("split.count", count)
        .u32("split.tensors.count", count)
        .tensor("t" + index, 0, 32)
        .write(folder.resolve(name));
  }

  private static void assertRefused(Path file, String reason) {
    assertThatThrownBy(() -> GgufHeader.read(file))
        .isInstanceOf(GgufRefused.class)
        .hasMessageContaining(reason);
  }
}
